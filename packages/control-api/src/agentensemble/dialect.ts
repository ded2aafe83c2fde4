/**
 * What AgentEnsemble's dashboard expects of a connection in addition to the events and replies of the control API.
 *
 * API-A1 The first message holds what happened before. Reviews that are open then follow it at once, each with the
 *    time that is left.
 * API-A2 The dashboard closes the panel of a review for `review_timed_out` alone, so that event follows each decision
 *    and each withdrawal.
 * API-A3 The dashboard closes a panel as it sends the decision. A review whose decision was refused is sent again.
 */
import { largeJson, sharedCapabilities } from '@tutti/gateway'

import { readHello } from './hello.ts'
import { readOpenReview, readOpenReviews } from './open-reviews.ts'

import type {
  ClientMessage,
  LoggedRunEvent,
  ReviewDecisionKind,
  ReviewTimeoutAction,
} from '@tutti/protocol'
import type { ResolvedControlApiOptions } from '../options.ts'

/** What a dialect adds to a connection. */
export interface Dialect {
  /** Reads the first message, and how the events after it begin. */
  greet(signal: AbortSignal): Promise<Greeting>
  /** The event to send after another one, at the same position of the log; undefined for most events. */
  followUp(event: LoggedRunEvent): LoggedRunEvent | undefined
  /** The event to send again after a message was refused. */
  afterRefusal(message: ClientMessage): Promise<LoggedRunEvent | undefined>
}

/** The first message, and what follows it. */
export interface Greeting {
  /** As JSON in UTF-8. */
  readonly hello: Uint8Array
  /** Splits what is sent next, given the events that were written while the greeting was read. */
  continueWith(early: readonly LoggedRunEvent[]): {
    /** Requests of open reviews, which may still be announced as new. */
    readonly reviews: readonly LoggedRunEvent[]
    /** Events that the first message does not include. */
    readonly fresh: readonly LoggedRunEvent[]
  }
}

/** Makes the dialect of a connection to one run, or to all. */
export function agentEnsembleDialect(
  options: ResolvedControlApiOptions,
  runId: string | undefined,
): Dialect {
  const { runs, clock, reads } = options
  return {
    // One turn for all of it: data that waited for another turn would be memory that no limit counts.
    greet: (signal) =>
      reads.run(async () => {
        const { message, reaches } = await readHello(runs, runId)
        const shared = sharedCapabilities(options)
        const hello = await largeJson({ ...message, sharedCapabilities: shared })
        const reviews = await readOpenReviews(runs, runId, clock.now())
        return { hello, continueWith: (early) => continueFrom({ reaches, reviews, early }) }
      }, signal),
    followUp: toPanelCloser,
    async afterRefusal(message) {
      if (message.type !== 'review_decision') return undefined
      return readOpenReview(runs, message.reviewId, clock.now())
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

/** The `review_timed_out` that closes a panel; the log does not have it. */
function toPanelCloser(event: LoggedRunEvent): LoggedRunEvent | undefined {
  if (event.type !== 'review_decided' && event.type !== 'review_withdrawn') return undefined
  const { reviewId, runId, seq, id } = event
  const action = event.type === 'review_decided' ? ACTION[event.decision] : 'EXIT_EARLY'
  return { type: 'review_timed_out', reviewId, action, runId, seq, id }
}
