// The version of this server, from its package.json. The bundler inlines it into the executable.
import manifest from '../../package.json' with { type: 'json' }

export const VERSION: string = manifest.version
