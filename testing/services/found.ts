// The result of the search for a service: its path, or why it is missing.

export type Found =
  | { state: 'found'; path: string }
  | {
      state: 'missing'
      why: string
      /** Its tests are skipped in CI as well. */
      isOptional?: boolean
    }

/** In CI a missing service fails its tests instead of skipping them. */
export const isCI = (): boolean => process.env.CI === 'true'
