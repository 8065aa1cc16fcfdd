// The one failure of the shell that is nobody's fault here: a store or database that does not answer.
// Whoever asked is told to come again; it is not an error of the program.

export class Unavailable extends Error {
  /** What the caller is told, where there is more to say than to try again soon. */
  readonly advice: string | null

  constructor(message: string, options: ErrorOptions & { advice?: string } = {}) {
    super(message, options)
    this.advice = options.advice ?? null
  }
}
