/** Decides reviews on behalf of a caller. */
import { actorOf, assertRole, type Caller } from '../caller.ts'
import { badRequest } from '../http/api-error.ts'

import type { GateDecision } from '@tutti/ensemble'
import type { ReviewDecisionApplied, ReviewDecisionBody } from '@tutti/protocol'
import type { RunService } from '@tutti/runs'

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
