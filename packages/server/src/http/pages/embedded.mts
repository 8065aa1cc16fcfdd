// The bundled page as a part of this module, by a macro. It is imported at runtime, so that from source it
// costs nothing until the page is requested; a compiled program contains it already. Compiling this file
// bundles the page: hence the extension .mts, which keeps it out of tools that read every .ts file.
import { bundlePage } from './bundle.ts' with { type: 'macro' }

export const sources = bundlePage()
