/** Output of a body that is ended before its end. */
const outputs = new WeakMap<object, string>()

/**
 * Reports the output so far of a body whose signal has aborted. If the call has timed out, its result contains the text.
 * Call it in a listener of the signal; later reports are ignored.
 */
export function reportPartialOutput({ reason }: AbortSignal, output: string): void {
  if (typeof reason === 'object' && reason !== null && output !== '') outputs.set(reason, output)
}

/** Returns the output that was reported for the reason of an abort; empty when there is none. */
export function takePartialOutput(reason: object): string {
  const output = outputs.get(reason) ?? ''
  outputs.delete(reason)
  return output
}
