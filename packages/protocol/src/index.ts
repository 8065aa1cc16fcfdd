// The wire of Greendot, shared by server and clients. Nothing here has dependencies or state:
// types, closed registries, and the few checks both ends must agree on.
export * from './errors.ts'
export * from './frames.ts'
export * from './limits.ts'
export * from './presence.ts'
