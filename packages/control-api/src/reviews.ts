/** Reviews as bodies and messages ask for them and decide them. */
import { limitText } from '@tutti/core'

import { actorOf, assertRole, mayDecide, type Caller } from './caller.ts'
import { badRequest } from './http/api-error.ts'
import { findRecord } from './find-run.ts'
import { toPendingReview } from './to-wire.ts'

import type { GateDecision } from '@tutti/ensemble'
import type {
  ListReviewsQuery,
  ReviewDecisionApplied,
  ReviewDecisionBody,
  ReviewList,
} from '@tutti/protocol'
import type { RunService } from '@tutti/runs'

/** Longest value of an input in the list, in characters. */
const MAX_INPUT_LENGTH = 200

/**
 * The reviews that wait for a decision, of one run or of all, in the order in which they opened, with what a
 * person needs to know of their runs.
 *
 * @throws {TuttiError} RUN_NOT_FOUND for an unknown run.
 */
export async function listReviews(
  runs: RunService,
  { runId, caller }: ListReviewsQuery & { readonly caller: Caller },
): Promise<ReviewList> {
  if (runId !== undefined) await findRecord(runs, runId)
  const which = runId === undefined ? {} : { runId }
  const open = await runs.openReviews(which)
  const total = await runs.countOpenReviews(which)
  const reviews = open.map((review) => ({
    ...toPendingReview(review),
    ensemble: review.ensemble,
    inputs: shortened(review.inputs),
    tags: { ...review.tags },
    mayDecide: mayDecide(caller, review.request.requiredRole),
  }))
  // A review may be decided between the two reads.
  return { reviews, total: Math.max(total, reviews.length) }
}

function shortened(inputs: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(inputs).map(([name, value]) => [name, limitText(value, MAX_INPUT_LENGTH)]),
  )
}

/**
 * Checks that a rejection says why: without it the agent would repeat the same work.
 *
 * @throws {TuttiError} BAD_REQUEST.
 */
export function assertFeedback({ decision, feedback = '' }: ReviewDecisionBody): void {
  if (decision !== 'REJECT' || feedback.trim() !== '') return
  const message = 'is required with REJECT: say what should be different'
  throw badRequest('Decision', [{ path: '/feedback', message }])
}

/**
 * Decides a review; resolves when the decision is durable.
 *
 * @throws {TuttiError} as `RunService.decide`, FORBIDDEN when the caller lacks the role that the review requires,
 * and BAD_REQUEST when the input of a tool call is not JSON.
 */
export async function decideReview(
  runs: RunService,
  reviewId: string,
  { caller, ...body }: ReviewDecisionBody & { readonly caller: Caller },
): Promise<ReviewDecisionApplied> {
  const { actor } = actorOf(caller)
  const review = await runs.review(reviewId)
  assertRole(caller, { reviewId, role: review?.request.requiredRole })
  const decision = toDecision(body, review?.request.timing === 'DURING_EXECUTION')
  await runs.decide(reviewId, { ...decision, ...(actor === undefined ? {} : { decidedBy: actor }) })
  return { reviewId, decision: body.decision, status: 'APPLIED' }
}

/** Returns the edited input of a tool call under review. */
function toDecision(
  { decision, revisedOutput = '', feedback }: ReviewDecisionBody,
  isOfToolCall: boolean,
): GateDecision {
  switch (decision) {
    case 'EDIT':
      return isOfToolCall
        ? { action: decision, input: toolInput(revisedOutput) }
        : { action: decision, text: revisedOutput }
    case 'REJECT':
      return { action: decision, ...(feedback === undefined ? {} : { feedback }) }
    case 'CONTINUE':
    case 'EXIT_EARLY':
      return { action: decision }
  }
}

function toolInput(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    const message = 'must be the input of the tool as JSON: the review is of a tool call'
    throw badRequest('Decision', [{ path: '/revisedOutput', message }])
  }
}
