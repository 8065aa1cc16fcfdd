// @greendot/client: who is here. Importing it touches nothing; `connect` is the way in.
export { connect } from './connect.ts'
export type * from './types.ts'
