/** Pure: matches outputs of a client with the open reviews of its run. */
import { badRequest } from '../../http/api-error.ts'
import { asksQuestion } from '../../service/decision-in-text.ts'
import { toApprovalId, toClientCallId } from './ids.ts'

import type { ReviewDecisionBody } from '@tutti/protocol'
import type { Problem, WaitingReview } from '@tutti/protocol/internal'
import type { ClientOutput } from './input.ts'

/** A decision that a client made. */
export interface ClientDecision {
  readonly review: WaitingReview
  readonly decision: ReviewDecisionBody
}

/**
 * Returns the decisions of open reviews.
 *
 * @throws {TuttiError} BAD_REQUEST, naming outputs that are for no open call, and calls without an output.
 */
export function matchOutputs(
  outputs: readonly ClientOutput[],
  open: readonly WaitingReview[],
): readonly ClientDecision[] {
  const problems: Problem[] = []
  const decisions: ClientDecision[] = []
  for (const output of outputs) {
    const review = open.find((one) => toItemId(one) === output.id)
    const isRepeated = decisions.some((one) => one.review === review)
    if (review === undefined || isRepeated) {
      const known = open.map(toItemId).join(', ') || 'none'
      const what = isRepeated ? 'has an output already' : 'is not open'
      problems.push({ path: output.path, message: `${output.id} ${what}; open: ${known}` })
      continue
    }
    const decision = toDecision(output, review)
    if ('message' in decision) problems.push({ path: output.path, message: decision.message })
    else decisions.push({ review, decision })
  }
  const missing = open.filter((review) => !outputs.some(({ id }) => id === toItemId(review)))
  if (missing.length > 0) {
    const names = missing.map((review) => `${toItemId(review)} (${review.toolName ?? 'review'})`)
    problems.push({ path: '/input', message: `must have an output for ${names.join(', ')}` })
  }
  if (problems.length > 0) throw badRequest('request body', problems)
  return decisions
}

function toItemId({ reviewId, kind }: WaitingReview): string {
  return kind === 'CLIENT_TOOL' ? toClientCallId(reviewId) : toApprovalId(reviewId)
}

/** Returns an output as a decision, or the problem with it. */
function toDecision(
  { answer }: ClientOutput,
  review: WaitingReview,
): ReviewDecisionBody | { readonly message: string } {
  if (answer.kind === 'output') return { decision: 'EDIT', revisedOutput: answer.text }
  const { approve, reason } = answer
  if (!approve) {
    const feedback = reason.trim() === '' ? 'The client rejected it without a reason' : reason
    return { decision: 'REJECT', feedback }
  }
  if (reason.trim() === '') return { decision: 'CONTINUE' }
  if (asksQuestion(review)) return { decision: 'EDIT', revisedOutput: reason }
  return {
    message: 'must have no reason when it approves: only a question takes it, as its answer',
  }
}

/**
 * Refuses to begin a run with the decision of a review, which would be lost.
 *
 * @throws {TuttiError} BAD_REQUEST, naming every change.
 */
export function assertNoDecision(
  outputs: readonly ClientOutput[],
  changes: readonly string[],
): void {
  if (outputs.every(({ answer }) => answer.kind === 'output')) return
  const message =
    'cannot change while the run waits for the decision of a review: omit it, or send it unchanged'
  throw badRequest(
    'request body',
    changes.map((path) => ({ path, message })),
  )
}
