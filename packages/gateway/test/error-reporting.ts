/** Test doubles for the parts of a server that receive errors. */
import type { ErrorMetrics, Redactor } from '../src/http/on-error.ts'

/** Metrics that record nothing. */
export const noMetrics: ErrorMetrics = {
  instruments: { errorsAnswered: { add: () => undefined }, tooMany: { add: () => undefined } },
}

/** Replaces one secret with `[redacted]`. */
export function redacting(secret: string): Redactor {
  const text = (given: string): string => given.replaceAll(secret, '[redacted]')
  // NOTE: replacing texts in a value does not change its type.
  return { text, value: <T>(value: T) => JSON.parse(text(JSON.stringify(value))) as T }
}

/** Redacts nothing. */
export const noRedactor: Redactor = { text: (text) => text, value: (value) => value }
