/**
 * Shows the reviews of a run to the person at the MCP client that called it.
 *
 *   2026-07-28   review ─▶ the call ends with a form ─▶ the client repeats it with the answer
 *   2025-11-25   review ─▶ a question over the open stream, while the call continues
 *   no forms     review ─▶ a progress note with the route that decides it
 *
 * GW-Q1 The first decision counts: a review that is decided elsewhere withdraws its question.
 * GW-Q2 An invalid answer leaves the review open, and the person is asked again with the reason.
 * GW-Q3 A person who declines is not asked again; the review stays open.
 */
import { inputRequired, type InputRequiredResult } from '@modelcontextprotocol/server'
import { TuttiError } from '@tutti/core'
import { CALLER_REVIEW_KINDS } from '@tutti/protocol/internal'

import { reportError } from '../http/on-error.ts'
import { readForm, toReviewForm } from './review-form.ts'

import type { GatewayCall } from '../service/gateway-call.ts'
import type { GatewayService } from '../service/gateway-service.ts'
import type { ElicitRequestFormParams, ElicitResult } from '@modelcontextprotocol/server'
import type { RunEvent } from '@tutti/protocol'
import type { ReviewRecord } from '@tutti/runs/adapter'

/** The reviews of one run during a call. */
export interface CallReviews {
  /** Called when a review has opened. Returns the result that ends the call; undefined when it continues. */
  opened(seq: number): Promise<InputRequiredResult | undefined>
  /** Called with every event of the run. */
  see(event: RunEvent): void
  /** Called when the call has ended. */
  end(): void
}

/** Reviews for clients without forms: shows none. */
export const NO_CALL_REVIEWS: CallReviews = {
  opened: () => Promise.resolve(undefined),
  see: () => undefined,
  end: () => undefined,
}

/** Run of a call, and the call that decides its reviews. */
export interface ReviewContext {
  readonly service: GatewayService
  readonly call: GatewayCall
  readonly runId: string
}

/** A round of a call. */
export interface Round extends ReviewContext {
  readonly declined: readonly string[]
  /** Answers of the client, by review id. */
  readonly responses: Readonly<Record<string, unknown>>
  /** Signs the state of the call. */
  readonly mint: (seq: number, declined: readonly string[]) => Promise<string>
}

/** Applies the answers of the previous round, then ends the round with the forms of the open reviews. */
export async function roundReviews({ responses, mint, ...context }: Round): Promise<CallReviews> {
  const { runs } = context.service.options
  const { runId } = context
  const declined = new Set(context.declined)
  const problems = new Map<string, string>()
  const isAnswered = Object.keys(responses).length > 0
  for (const review of isAnswered
    ? await runs.reviews.open({ runId, kinds: CALLER_REVIEW_KINDS })
    : []) {
    const { reviewId } = review
    const answer = readElicitResult(responses[reviewId])
    if (answer === undefined) continue
    if (answer.action === 'accept') {
      const problem = await decideByForm(context, review, answer.content)
      if (problem !== undefined) problems.set(reviewId, problem)
    } else declined.add(reviewId)
  }
  return {
    ...NO_CALL_REVIEWS,
    async opened(seq) {
      const open = await runs.reviews.open({ runId, kinds: CALLER_REVIEW_KINDS })
      const asked = open.filter(({ reviewId }) => !declined.has(reviewId))
      if (asked.length === 0) return undefined
      const forms = asked.map(({ reviewId, request }) => {
        const form = inputRequired.elicit(toReviewForm(request, problems.get(reviewId)))
        return [reviewId, form] as const
      })
      return inputRequired({
        inputRequests: Object.fromEntries(forms),
        requestState: await mint(seq, [...declined]),
      })
    },
  }
}

/** Returns the answer to a form; undefined for anything else. */
function readElicitResult(
  response: unknown,
): (Pick<ElicitResult, 'action'> & { content?: unknown }) | undefined {
  if (typeof response !== 'object' || response === null || !('action' in response)) return undefined
  const { action } = response
  if (action === 'accept') {
    return { action, content: 'content' in response ? response.content : undefined }
  }
  return action === 'decline' || action === 'cancel' ? { action } : undefined
}

/** A call whose client answers questions while it continues. */
export interface LiveCall extends ReviewContext {
  /** Shows a form until it is answered or the signal aborts. */
  readonly elicit: (form: ElicitRequestFormParams, signal: AbortSignal) => Promise<ElicitResult>
}

/** Maximum number of questions about one review; bounds clients that answer automatically. */
const MAX_ASKED = 5

/** Shows reviews over the open stream. */
export function liveReviews({ elicit, ...context }: LiveCall): CallReviews {
  const asked = new Map<string, AbortController>()
  const ask = async (review: ReviewRecord, signal: AbortSignal): Promise<void> => {
    let problem: string | undefined
    for (let times = 0; times < MAX_ASKED; times += 1) {
      const { action, content } = await elicit(toReviewForm(review.request, problem), signal)
      if (action !== 'accept') return
      problem = await decideByForm(context, review, content)
      if (problem === undefined) return
    }
  }
  const close = (reviewId: string): void => {
    asked.get(reviewId)?.abort()
  }
  return {
    async opened() {
      const { runs, logger } = context.service.options
      const { runId } = context
      for (const review of await runs.reviews.open({ runId, kinds: CALLER_REVIEW_KINDS })) {
        const { reviewId } = review
        if (asked.has(reviewId)) continue
        const question = new AbortController()
        asked.set(reviewId, question)
        ask(review, question.signal).catch((error: unknown) => {
          if (question.signal.aborted) return
          logger.warn('Failed to ask a review over MCP', { runId, reviewId, error })
        })
      }
      return undefined
    },
    see(event) {
      if (
        event.type === 'review_decided' ||
        event.type === 'review_timed_out' ||
        event.type === 'review_withdrawn'
      ) {
        close(event.reviewId)
      }
    },
    end() {
      for (const reviewId of asked.keys()) close(reviewId)
    },
  }
}

/** Codes of a decision that is too late: the review is closed. */
const CLOSED: readonly string[] = ['REVIEW_RESOLVED', 'REVIEW_NOT_FOUND', 'RUN_COMPLETED']

/** Decides a review. Returns the problem if the review is still open, so that the person can be asked again. */
export async function decideByForm(
  { service, call }: Pick<ReviewContext, 'service' | 'call'>,
  { reviewId }: Pick<ReviewRecord, 'reviewId'>,
  content: unknown,
): Promise<string | undefined> {
  const answer = readForm(content)
  if (!answer.ok) return answer.problem
  try {
    await service.decide(call, reviewId, () => answer.decision)
    return undefined
  } catch (error) {
    if (TuttiError.isInstance(error) && CLOSED.includes(error.code)) return undefined
    return reportError(error, service.options).body.message
  }
}
