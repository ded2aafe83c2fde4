/** A reviewer that answers from a list: for tools that ask for approval, and for the gates of runs. */
import type { ApprovalAnswer, ApprovalRequest, Reviewer } from '@tutti/core'
import type { Gate, GateDecision, RunReviewer } from '@tutti/ensemble'

/** Reviewer that records what it was asked. It decides calls of single tools and gates of runs alike. */
export interface ScriptedReviewer extends Reviewer, RunReviewer {
  /** What tools asked, in order; those of a run with them. */
  readonly requests: readonly ApprovalRequest[]
  /** The gates of runs, in order. */
  readonly gates: readonly Gate[]
  decide(asked: Gate, signal: AbortSignal): Promise<GateDecision>
  decide(asked: ApprovalRequest, signal: AbortSignal): Promise<ApprovalAnswer>
}

/** An answer of a script; one that is only an action has nothing else. */
export type ScriptedDecision = GateDecision | GateDecision['action'] | 'never' | Error

/**
 * Makes a reviewer. It gives the answers in order and repeats the last; `'never'` lets the question wait
 * until its time is over, an error is thrown.
 *
 * @throws {RangeError} when the list is empty.
 */
export function scriptedReviewer(answers: readonly ScriptedDecision[]): ScriptedReviewer {
  if (answers.length === 0) throw new RangeError('Cannot make a reviewer without an answer')
  const requests: ApprovalRequest[] = []
  const gates: Gate[] = []
  let asked = 0
  return {
    requests,
    gates,
    decide(question: Gate | ApprovalRequest): Promise<never> {
      const answer = answers[Math.min(asked, answers.length - 1)]
      asked += 1
      if ('reviewId' in question) gates.push(question)
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
function toDecision(action: GateDecision['action']): GateDecision {
  return action === 'EDIT' ? { action, input: undefined } : { action }
}
