// @greendot/client, for browsers, Node, Bun and Deno. Importing it has no side effects.
export { connect } from './connect.ts'
export { formatLastSeen, type LastSeenInput, type LastSeenOptions, type LastSeenWords } from './last-seen.ts'
export type * from './types.ts'
