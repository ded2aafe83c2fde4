import type { TuttiClientError } from './errors.ts'

/**
 * Whether a new connection can mend this: what the network did, 429 and 5xx. Other refusals stay as they
 * are however often one asks.
 */
export function canReconnect({ status, retryable }: TuttiClientError): boolean {
  return status === undefined ? retryable : status === 429 || status >= 500
}
