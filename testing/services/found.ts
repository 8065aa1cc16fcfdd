// What looking for a service comes to: where it is, or why it cannot be had.

export type Found = { state: 'found'; path: string } | { state: 'missing'; why: string }

/** Where tests must not be skipped quietly. */
export const isCI = (): boolean => process.env.CI === 'true'
