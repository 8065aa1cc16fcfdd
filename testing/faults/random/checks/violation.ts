// What a check found: which promise was broken, when, and about whom, so that the story of it can be told.

export interface Violation {
  check:
    | 'agreement'
    | 'ghost'
    | 'false offline'
    | 'version'
    | 'choice'
    | 'privacy'
    | 'process'
    | 'leftover'
    | 'relayed'
    | 'archived'
    | 'flicker'
    | 'status'
  at: number
  what: string
  target?: string
  viewer?: string
}
