/** A reviewer that answers from a list, for approvals of tools and for reviews of runs. */
import type { ApprovalRequest, Reviewer } from '@tutti/core'
import type { ApprovalAnswer } from '@tutti/core/internal'
import type { ReviewAnswer, RunReviewer } from '@tutti/ensemble'
import type { OpenReview } from '@tutti/ensemble/internal'

/** Reviewer that records the reviews and approvals that it decides. */
export interface ScriptedReviewer extends Reviewer, RunReviewer {
  /** Approval requests of tools, in order, including those in reviews of runs. */
  readonly requests: readonly ApprovalRequest[]
  /** Reviews of runs, in order. */
  readonly reviews: readonly OpenReview[]
  decide(asked: OpenReview, signal: AbortSignal): Promise<ReviewAnswer>
  decide(asked: ApprovalRequest, signal: AbortSignal): Promise<ApprovalAnswer>
}

/** An answer of a script; an action alone has no other fields. */
export type ScriptedDecision = ReviewAnswer | ReviewAnswer['action'] | 'never' | Error

/**
 * Creates a reviewer that returns the answers in order and repeats the last one. `'never'` lets the review
 * wait until it times out; an error is thrown.
 *
 * @throws {RangeError} if the list is empty.
 */
export function scriptedReviewer(answers: readonly ScriptedDecision[]): ScriptedReviewer {
  if (answers.length === 0) throw new RangeError('Cannot create a reviewer without an answer')
  const requests: ApprovalRequest[] = []
  const reviews: OpenReview[] = []
  let asked = 0
  return {
    requests,
    reviews,
    decide(question: OpenReview | ApprovalRequest): Promise<never> {
      const answer = answers[Math.min(asked, answers.length - 1)]
      asked += 1
      if ('reviewId' in question) reviews.push(question)
      const approval = 'reviewId' in question ? question.approval : question
      if (approval !== undefined) requests.push(approval)
      if (answer === undefined || answer === 'never') return new Promise(() => undefined)
      if (answer instanceof Error) return Promise.reject(answer)
      // NOTE: the script decides the kind of the answer; the caller rejects one of the wrong kind.
      return Promise.resolve((typeof answer === 'string' ? toDecision(answer) : answer) as never)
    },
  }
}

/** Converts an action to a decision. An edit has no input; callers that need one reject it. */
function toDecision(action: ReviewAnswer['action']): ReviewAnswer {
  return action === 'EDIT' ? { action, input: undefined } : { action }
}
