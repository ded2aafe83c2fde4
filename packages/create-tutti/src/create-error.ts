/** A failure that is reported by its message, without a stack. */
export class CreateError extends Error {
  override readonly name = 'CreateError'
  readonly exitCode: number

  constructor(exitCode: number, message: string, options?: ErrorOptions) {
    super(message, options)
    this.exitCode = exitCode
  }
}

/** Exit codes, with the usual meanings. */
export const EXIT = { ok: 0, failed: 1, usage: 2, interrupted: 130 } as const
