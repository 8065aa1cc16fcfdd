// An edit that takes one check out of the server, for `mutations.ts` to see whether that is noticed.

export interface Mutation {
  /** What is true in the mutated server. */
  name: string
  /** Below packages/server/src. */
  file: string
  edits: readonly { from: string; to: string }[]
  /** Random histories hardly ever come by what it breaks: it is left to the small ones. */
  isRare?: true
}

export const mutation = (name: string, file: string, from: string, to: string): Mutation => ({
  name,
  file,
  edits: [{ from, to }],
})

export const rare = (mutation: Mutation): Mutation => ({ ...mutation, isRare: true })
