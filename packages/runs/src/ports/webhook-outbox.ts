/**
 * The outbox: pending deliveries of events to webhooks.
 *
 * RUNS-O1 A write with a `run_result`, or with a `review_requested` of a kind that people decide, creates one delivery for
 *    each webhook of its run, in the same transaction (RUNS-P10). It is due at once.
 * RUNS-O2 One process at a time claims a delivery. If the process records no outcome before its claim expires, the
 *    delivery is due again.
 * RUNS-O3 A delivery that is done or abandoned is never claimed again, and is deleted with its run.
 * RUNS-O4 The outcome that a process records after its claim expired, and another process claimed the delivery, is
 *    ignored.
 */

/** Stores pending deliveries to webhooks. */
export interface WebhookOutbox {
  /** Claims deliveries that are due, the longest due first. */
  claim(request: ClaimDeliveries): Promise<readonly ClaimedDelivery[]>
  /** Records the outcome of a delivery attempt. */
  settle(delivery: Pick<ClaimedDelivery, 'id' | 'attempt'>, end: DeliveryEnd): Promise<void>
}

/** Number of deliveries to claim, and the duration of the claim. */
export interface ClaimDeliveries {
  readonly limit: number
  /** Time after which they are due again, in milliseconds. */
  readonly claimMs: number
}

/** A claimed delivery of an event to a webhook. */
export interface ClaimedDelivery {
  /** `runId:seq:webhook`: the same for every attempt. */
  readonly id: string
  readonly runId: string
  /** Sequence number of the delivered event. */
  readonly seq: number
  /** Name of the webhook. */
  readonly webhook: string
  /** Number of this attempt, from 1. */
  readonly attempt: number
}

/** The outcome of an attempt. */
export type DeliveryEnd =
  | { readonly kind: 'done' }
  /** It is due again in `dueInMs` milliseconds. */
  | { readonly kind: 'retry'; readonly dueInMs: number; readonly reason: string }
  | { readonly kind: 'given_up'; readonly reason: string }
