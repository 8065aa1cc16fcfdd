// The bundled page as a part of this module, by a macro. Imported while running, so that from source it
// costs nothing until somebody asks for the page; in a compiled program it is there already. Whatever
// compiles this file bundles the page: hence its ending, which keeps it from what reads every .ts.
import { bundlePage } from './bundle.ts' with { type: 'macro' }

export const sources = bundlePage()
