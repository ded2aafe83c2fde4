/** A reviewer that answers from a list, for tests of tools that ask for approval. */
import type { ApprovalAnswer, ApprovalRequest, Reviewer } from '@tutti/core'

/** Reviewer that records what it was asked. */
export interface ScriptedReviewer extends Reviewer {
  /** What was asked, in order. */
  readonly requests: readonly ApprovalRequest[]
}

/**
 * Makes a reviewer. It gives the answers in order and repeats the last; `'never'` lets the request wait
 * until its time is over.
 *
 * @throws {RangeError} when the list is empty.
 */
export function scriptedReviewer(
  answers: readonly (ApprovalAnswer | ApprovalAnswer['action'] | 'never')[],
): ScriptedReviewer {
  if (answers.length === 0) throw new RangeError('Cannot make a reviewer without an answer')
  const requests: ApprovalRequest[] = []
  return {
    requests,
    decide(request) {
      const answer = answers[Math.min(requests.length, answers.length - 1)]
      requests.push(request)
      if (answer === undefined || answer === 'never') return new Promise(() => undefined)
      return Promise.resolve(typeof answer === 'string' ? answerOf(answer) : answer)
    },
  }
}

/** An action as an answer; an edit has no input then, and is refused by any tool that needs one. */
function answerOf(action: ApprovalAnswer['action']): ApprovalAnswer {
  return action === 'EDIT' ? { action, input: undefined } : { action }
}
