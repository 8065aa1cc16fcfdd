// The failure of a store or database that does not answer. It is no error of the program: the caller is told
// to try again.

export class Unavailable extends Error {
  /** For the caller; null when there is no more to say than to try again soon. */
  readonly advice: string | null

  constructor(message: string, options: ErrorOptions & { advice?: string } = {}) {
    super(message, options)
    this.advice = options.advice ?? null
  }
}

/** Nothing was changed, and trying the same again by itself would not help: the caller must decide. */
export class Refused extends Unavailable {}
