/**
 * Messages that AgentEnsemble's dashboard expects in addition to the events and replies of the control API.
 *
 * AE-A1 The first message holds the past events. The requests of open reviews follow it at once, each with its
 *    remaining time.
 * AE-A2 The dashboard closes the panel of a review only for `review_timed_out`, so that event follows each decision
 *    and each withdrawal.
 * AE-A3 The dashboard closes a panel when it sends the decision. If the decision is refused, the request of the
 *    review is sent again.
 */
import {
  type ConnectionDialect,
  type GatewayOptions,
  type Greeting,
  largeJson,
  sharedCapabilities,
} from '@tutti/gateway/internal'

import { readHello } from './hello.ts'
import { readOpenReview, readOpenReviews } from './open-reviews.ts'

import type { LoggedRunEvent } from '@tutti/protocol'
import type { ReviewDecisionKind, ReviewTimeoutAction } from '@tutti/protocol/internal'

/** Creates the dialect of a connection to one run, or to all. */
export function agentEnsembleDialect(
  options: GatewayOptions,
  runId: string | undefined,
): ConnectionDialect {
  const { runs, reads } = options
  return {
    // One turn for everything: data that waits for another turn would not count towards any limit.
    greet: (signal) =>
      reads.run(async () => {
        const { message, reaches } = await readHello(runs, runId)
        const shared = sharedCapabilities(options)
        const hello = await largeJson({ ...message, sharedCapabilities: shared })
        const reviews = await readOpenReviews(runs, runId, runs.clock.now())
        return { hello, continueWith: (early) => continueFrom({ reaches, reviews, early }) }
      }, signal),
    followUp: toPanelCloser,
    async afterRefusal(message) {
      if (message.type !== 'review_decision') return undefined
      return readOpenReview(runs, message.reviewId, runs.clock.now())
    },
  }
}

function continueFrom({
  reaches,
  reviews,
  early,
}: {
  readonly reaches: ReadonlyMap<string, number>
  readonly reviews: readonly LoggedRunEvent[]
  readonly early: readonly LoggedRunEvent[]
}): ReturnType<Greeting['continueWith']> {
  const fresh = early.filter(({ seq, runId }) => seq > (reaches.get(runId) ?? -1))
  const announced = new Set(fresh.map(({ id }) => id))
  return {
    fresh,
    reviews: reviews.filter(
      ({ id, seq, runId }) => !announced.has(id) && seq <= (reaches.get(runId) ?? Infinity),
    ),
  }
}

/** The timeout action that corresponds to a decision. */
const ACTION: Readonly<Record<ReviewDecisionKind, ReviewTimeoutAction>> = {
  CONTINUE: 'CONTINUE',
  EDIT: 'CONTINUE',
  EXIT_EARLY: 'EXIT_EARLY',
  REJECT: 'FAIL',
}

/** Returns the `review_timed_out` that closes a panel. It is not in the log. */
function toPanelCloser(event: LoggedRunEvent): LoggedRunEvent | undefined {
  if (event.type !== 'review_decided' && event.type !== 'review_withdrawn') return undefined
  const { reviewId, runId, seq, id } = event
  const action = event.type === 'review_decided' ? ACTION[event.decision] : 'EXIT_EARLY'
  return { type: 'review_timed_out', reviewId, action, runId, seq, id }
}
