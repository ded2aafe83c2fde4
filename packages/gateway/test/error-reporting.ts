/** Stand-ins for the parts of a server that take errors. */
import type { ErrorMetrics, Redactor } from '../src/http/on-error.ts'

/** Metrics that count nothing. */
export const noMetrics: ErrorMetrics = {
  instruments: { errorsAnswered: { add: () => undefined }, tooMany: { add: () => undefined } },
}

/** Replaces one secret by `[redacted]`. */
export function redacting(secret: string): Redactor {
  const text = (given: string): string => given.replaceAll(secret, '[redacted]')
  // NOTE: the type of a value does not change when texts in it do.
  return { text, value: <T>(value: T) => JSON.parse(text(JSON.stringify(value))) as T }
}

/** Redacts nothing. */
export const noRedactor: Redactor = { text: (text) => text, value: (value) => value }
