/** Reads the requests of open reviews, for connections that were opened after them. */
import { CALLER_REVIEW_KINDS, PERSON_REVIEW_KINDS } from '@tutti/protocol/internal'
import type { RunService } from '@tutti/runs'
import { eventPages } from '@tutti/runs/internal'
import type { LoggedRunEvent } from '@tutti/protocol'

/**
 * Reads the newest request of each open review of one run, or of all runs; then calls of client tools are left out, as waits
 * always are. A review that was requested again after a crash has several requests. `timeoutMs` is the remaining time at `now`
 * (milliseconds since 1970). It is at least 1, because 0 means no limit.
 */
export async function readOpenReviews(
  runs: RunService,
  runId: string | undefined,
  now: number,
): Promise<readonly LoggedRunEvent[]> {
  const open = await runs.reviews.open(
    runId === undefined ? { kinds: PERSON_REVIEW_KINDS } : { runId, kinds: CALLER_REVIEW_KINDS },
  )
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

/** Reads the newest request of one review; undefined when the review is not open. */
export async function readOpenReview(
  runs: RunService,
  reviewId: string,
  now: number,
): Promise<LoggedRunEvent | undefined> {
  const review = await runs.reviews.get(reviewId)
  if (review === undefined) return undefined
  const requests = await readOpenReviews(runs, review.runId, now)
  return requests.find((event) => event.type === 'review_requested' && event.reviewId === reviewId)
}
