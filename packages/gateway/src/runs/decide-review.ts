/** Decides reviews on behalf of a caller. */
import { TuttiError } from '@tutti/core'

import { actorOf, assertRole, type Caller } from '../caller.ts'

import type { AddSubject } from '../http/audited.ts'
import type {
  ReviewDecisionApplied,
  ReviewDecisionBody,
  ReviewVerdict,
  Scope,
} from '@tutti/protocol'
import type { ReviewRecord, RunService } from '@tutti/runs'

/** Caller of a decision. */
interface DecisionCall {
  readonly caller: Caller
  /** Called with the run of the review, for the audit trail. */
  readonly addSubject?: AddSubject
}

/** Review to be decided. */
export interface ReviewToDecide extends Pick<ReviewRecord, 'reviewId'> {
  readonly request: Pick<ReviewRecord['request'], 'clientTool'>
}

/** Returns the scope that a decision of the review requires: the client of a run answers the calls of its tools. */
export function decisionScope({ clientTool }: ReviewToDecide['request']): Scope {
  return clientTool === true ? 'runs:write' : 'reviews:decide'
}

/** Returns the scope that a decision of the review with this id requires. */
export async function findDecisionScope(
  runs: Pick<RunService, 'review'>,
  reviewId: string,
): Promise<Scope> {
  return decisionScope((await runs.review(reviewId))?.request ?? {})
}

/**
 * Decides a review; resolves when the decision is durable. The owner of the run validates the decision.
 *
 * @throws {TuttiError} REVIEW_NOT_FOUND; BAD_REQUEST for a review that is damaged in the store; FORBIDDEN when the caller lacks the role that the review requires; and as
 * `RunService.send`.
 */
export async function decideReview(
  runs: RunService,
  reviewId: string,
  { caller, addSubject, ...body }: ReviewDecisionBody & DecisionCall,
): Promise<ReviewDecisionApplied> {
  const review = await runs.review(reviewId)
  if (review === undefined) {
    throw new TuttiError('REVIEW_NOT_FOUND', `No review has the id "${reviewId}"`)
  }
  addSubject?.({ runId: review.runId })
  if (review.unreadable !== undefined) {
    const message = `Review "${reviewId}" cannot be read: ${review.unreadable}. Cancel run ${review.runId}`
    throw new TuttiError('BAD_REQUEST', message)
  }
  assertRole(caller, { reviewId, role: review.request.requiredRole })
  const { actor } = actorOf(caller)
  const decision = { ...toVerdict(body), ...(actor === undefined ? {} : { decidedBy: actor }) }
  await runs.send(review.runId, { kind: 'decide', reviewId, decision })
  return { reviewId, decision: body.decision, status: 'APPLIED' }
}

function toVerdict({
  decision: action,
  revisedOutput = '',
  feedback,
}: ReviewDecisionBody): ReviewVerdict {
  if (action === 'EDIT') return { action, revisedOutput }
  if (action === 'REJECT') return { action, ...(feedback === undefined ? {} : { feedback }) }
  return { action }
}
