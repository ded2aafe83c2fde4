/**
 * What webhooks are to be told, until they have been told.
 *
 * RUNS-O1 A write that brings `run_result` or `review_requested` makes one delivery for each webhook of its run, in
 *    the same piece (RUNS-P10); it is due at once.
 * RUNS-O2 A delivery is claimed by one process at a time; when that says nothing before its claim is over, the
 *    delivery is due again.
 * RUNS-O3 A delivery that is done or given up is not claimed any more, and goes with its run.
 * RUNS-O4 What a process says of a delivery whose claim is over, and which another has claimed since, changes nothing.
 */

/** Keeps what webhooks are to be told. */
export interface WebhookOutbox {
  /** Claims deliveries that are due, the longest due first. */
  claim(request: ClaimDeliveries): Promise<readonly ClaimedDelivery[]>
  /** Says what became of a claimed delivery. */
  settle(delivery: Pick<ClaimedDelivery, 'id' | 'attempt'>, end: DeliveryEnd): Promise<void>
}

/** How many deliveries to claim, and for how long. */
export interface ClaimDeliveries {
  readonly limit: number
  /** After what time they are due again, in milliseconds. */
  readonly claimMs: number
}

/** Something that a webhook is to be told. */
export interface ClaimedDelivery {
  /** `runId:seq:webhook`: the same for every attempt. */
  readonly id: string
  readonly runId: string
  /** Sequence number of the event that it tells of. */
  readonly seq: number
  /** Name of the webhook. */
  readonly webhook: string
  /** Which attempt this is, from 1. */
  readonly attempt: number
}

/** What became of an attempt. */
export type DeliveryEnd =
  | { readonly kind: 'done' }
  /** It is due again after that time, in milliseconds. */
  | { readonly kind: 'retry'; readonly dueInMs: number; readonly reason: string }
  | { readonly kind: 'given_up'; readonly reason: string }
