/** Decides about reconnects and their delays. */
import { backoffMs } from '@tutti/protocol/internal'

import type { TuttiClientError } from './errors.ts'
import type { ResolvedClientOptions } from './options.ts'

/** Random share of a delay: clients that lost the same server do not reconnect at the same time. */
const JITTER = 0.5

/**
 * Returns the delay before attempt number `attempt` (from 1) after `error`, in milliseconds: the one that the server
 * requests, if it is longer than the backoff.
 */
export function retryDelayMs(
  attempt: number,
  error: TuttiClientError,
  { reconnect, random }: Pick<ResolvedClientOptions, 'reconnect' | 'random'>,
): number {
  const { baseDelayMs: firstMs, maxDelayMs: maxMs } = reconnect
  const ownMs = backoffMs(attempt - 1, { firstMs, maxMs, jitter: JITTER, random })
  return Math.max(ownMs, error.retryAfterMs ?? 0)
}

/**
 * Whether a new connection can help: after failures of the network, 429 and 5xx. Other refusals do not change.
 */
export function canReconnect({ status, retryable }: TuttiClientError): boolean {
  return status === undefined ? retryable : status === 429 || status >= 500
}
