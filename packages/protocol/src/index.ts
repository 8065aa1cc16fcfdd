// The wire protocol, shared by server and clients: types, closed registries, and the few checks that both ends
// must agree on. No dependencies and no state.
export * from './compact.ts'
export * from './errors.ts'
export * from './frames.ts'
export * from './limits.ts'
export * from './presence.ts'
export * from './records.ts'
export * from './webhooks.ts'
