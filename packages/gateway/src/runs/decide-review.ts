/** Decides reviews on behalf of a caller. */
import { TuttiError } from '@tutti/core'

import { actorOf, assertRole, assertScope, type Caller } from '../caller.ts'
import { decisionScope } from './run-rights.ts'

import type { AddSubject } from '../http/audited.ts'
import type { ReviewDecisionBody } from '@tutti/protocol'
import type { ReviewDecisionApplied, ReviewVerdict } from '@tutti/protocol/internal'
import type { RunService } from '@tutti/runs'

/** Caller of a decision. */
interface DecisionCall {
  readonly caller: Caller
  /** Called with the run of the review, for the audit trail. */
  readonly addSubject?: AddSubject
}

/**
 * Decides a review; resolves when the decision is durable. The owner of the run validates the decision.
 *
 * @throws {TuttiError} REVIEW_NOT_FOUND; BAD_REQUEST for a review that is damaged in the store; FORBIDDEN when the caller lacks
 * the scope (GW-A7) or the role that the review requires; and as `RunService.send`.
 */
export async function decideReview(
  runs: RunService,
  reviewId: string,
  { caller, addSubject, ...body }: ReviewDecisionBody & DecisionCall,
): Promise<ReviewDecisionApplied> {
  const review = await runs.reviews.get(reviewId)
  if (review === undefined) {
    throw new TuttiError('REVIEW_NOT_FOUND', `No review has the id "${reviewId}"`)
  }
  addSubject?.({ runId: review.runId })
  assertScope(caller, decisionScope(caller, review))
  if (review.unreadable !== undefined) {
    const message = `Review "${reviewId}" cannot be read: ${review.unreadable}. Cancel run ${review.runId}`
    throw new TuttiError('BAD_REQUEST', message)
  }
  assertRole(caller, { reviewId, role: review.request.requiredRole })
  const { actor } = actorOf(caller)
  const decision = { ...toVerdict(body), ...(actor === undefined ? {} : { decidedBy: actor }) }
  const reply = await runs.send(review.runId, { kind: 'decide', reviewId, decision })
  return { reviewId, decision: body.decision, status: 'APPLIED', ...reply }
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
