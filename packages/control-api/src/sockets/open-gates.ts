/** The gates that wait for a decision, for a connection that was not there when they opened. */
import type { LoggedRunEvent } from '@tutti/protocol'
import type { RunService } from '@tutti/runs'

/** Events of one run that are looked through for its gates, at most. */
const MAX_EVENTS = 10_000

/**
 * The events with which the open gates opened, of one run or of all. Their `timeoutMs` is the time that
 * is left at `now`, in milliseconds since 1970; 0 is without end, so it is never less than 1.
 */
export async function openGates(
  runs: RunService,
  runId: string | undefined,
  now: number,
): Promise<readonly LoggedRunEvent[]> {
  const open = await runs.openReviews(runId === undefined ? {} : { runId })
  const expiry = new Map(open.map(({ reviewId, expiresAt }) => [reviewId, expiresAt]))
  const runIds = [...new Set(open.map((review) => review.runId))]
  const opened = await Promise.all(
    runIds.map((id) =>
      runs.readEvents({ runId: id, from: 0, limit: MAX_EVENTS, types: ['review_requested'] }),
    ),
  )
  return opened.flat().flatMap((event) => {
    if (event.type !== 'review_requested' || !expiry.has(event.reviewId)) return []
    const expiresAt = expiry.get(event.reviewId)
    if (expiresAt === undefined) return [event]
    return [{ ...event, timeoutMs: Math.max(1, Math.round(expiresAt - now)) }]
  })
}
