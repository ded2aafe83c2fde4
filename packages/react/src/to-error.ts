/** Errors as values. */

/** Returns what was thrown as an error. */
export function toError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown))
}

/** Runs `work`, and returns its error instead of throwing it; undefined when it succeeds. */
export async function catchError(work: () => Promise<unknown>): Promise<Error | undefined> {
  try {
    await work()
    return undefined
  } catch (thrown) {
    return toError(thrown)
  }
}
