/** A reviewer that answers from a list: for tools that ask for approval, and for the reviews of runs. */
import type { ApprovalAnswer, ApprovalRequest, Reviewer } from '@tutti/core'
import type { OpenReview, ReviewAnswer, RunReviewer } from '@tutti/ensemble'

/** Records the reviews and approvals that it decides. It decides calls of single tools and reviews of runs alike. */
export interface ScriptedReviewer extends Reviewer, RunReviewer {
  /** Approval requests of tools, in order, with those of runs. */
  readonly requests: readonly ApprovalRequest[]
  /** The reviews of runs, in order. */
  readonly reviews: readonly OpenReview[]
  decide(asked: OpenReview, signal: AbortSignal): Promise<ReviewAnswer>
  decide(asked: ApprovalRequest, signal: AbortSignal): Promise<ApprovalAnswer>
}

/** An answer of a script; one that is only an action has nothing else. */
export type ScriptedDecision = ReviewAnswer | ReviewAnswer['action'] | 'never' | Error

/**
 * Makes a reviewer. It gives the answers in order and repeats the last; `'never'` lets the question wait
 * until its time is over, an error is thrown.
 *
 * @throws {RangeError} when the list is empty.
 */
export function scriptedReviewer(answers: readonly ScriptedDecision[]): ScriptedReviewer {
  if (answers.length === 0) throw new RangeError('Cannot make a reviewer without an answer')
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
      // NOTE: the script says which kind of answer comes; one that does not fit is refused by who asked.
      return Promise.resolve((typeof answer === 'string' ? toDecision(answer) : answer) as never)
    },
  }
}

/** An action as a decision; an edit has no input then, and is refused by whatever needs one. */
function toDecision(action: ReviewAnswer['action']): ReviewAnswer {
  return action === 'EDIT' ? { action, input: undefined } : { action }
}
