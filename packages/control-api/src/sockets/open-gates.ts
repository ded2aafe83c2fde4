/** The gates that wait for a decision, for a connection that was not there when they opened. */

import { eventPages, type RunService } from '@tutti/runs'

import type { LoggedRunEvent } from '@tutti/protocol'

/**
 * The events with which the open gates opened, of one run or of all, each gate once: one that was asked
 * for again after a crash has several. Their `timeoutMs` is the time that is left at `now`, in
 * milliseconds since 1970; 0 is without end, so it is never less than 1.
 */
export async function openGates(
  runs: RunService,
  runId: string | undefined,
  now: number,
): Promise<readonly LoggedRunEvent[]> {
  const open = await runs.openReviews(runId === undefined ? {} : { runId })
  const expiry = new Map(open.map(({ reviewId, expiresAt }) => [reviewId, expiresAt]))
  const runIds = [...new Set(open.map((review) => review.runId))]
  const last = new Map<string, LoggedRunEvent>()
  const take = (event: LoggedRunEvent): void => {
    if (event.type !== 'review_requested' || !expiry.has(event.reviewId)) return
    const expiresAt = expiry.get(event.reviewId)
    const timeoutMs = expiresAt === undefined ? 0 : Math.max(1, Math.round(expiresAt - now))
    last.set(event.reviewId, { ...event, timeoutMs })
  }
  for (const id of runIds) {
    const query = { runId: id, from: 0, types: ['review_requested'] as const }
    for await (const page of eventPages(runs, query)) page.forEach(take)
  }
  return [...last.values()]
}

/**
 * The event of one gate while it is open; undefined when it is not. A dashboard that closes its panel as
 * it sends a decision needs it again when the decision is refused.
 */
export async function openGate(
  runs: RunService,
  reviewId: string,
  now: number,
): Promise<LoggedRunEvent | undefined> {
  const review = await runs.review(reviewId)
  if (review === undefined) return undefined
  const gates = await openGates(runs, review.runId, now)
  return gates.find((event) => event.type === 'review_requested' && event.reviewId === reviewId)
}
