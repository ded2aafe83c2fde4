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
export declare function scriptedReviewer(answers: readonly ScriptedDecision[]): ScriptedReviewer
