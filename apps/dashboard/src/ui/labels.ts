/** Labels and marks of the states of runs, tasks, turns and calls. */
import { isWaitingRunStatus } from '@tutti/protocol/internal'

import type { MarkKind } from '../ui/show/mark.tsx'
import type { LoggedRunEvent, RunStatus, TaskStatus } from '@tutti/protocol'
import type {
  AgentCallState,
  DelegationState,
  DirectiveState,
  FinishReason,
  ReviewDecisionKind,
  ReviewKind,
  ReviewState,
  ReviewTimeoutAction,
  TaskState,
  ToolCallState,
  TurnState,
} from '@tutti/protocol/internal'

/** The mark and the label of a state. */
export interface Shown {
  readonly mark: MarkKind
  readonly word: string
}

/** Labels of run statuses. */
export const RUN_STATUS: Readonly<Record<RunStatus, Shown>> = {
  ACCEPTED: { mark: 'queued', word: 'Queued' },
  RUNNING: { mark: 'live', word: 'Running' },
  CANCELLING: { mark: 'stopping', word: 'Cancelling' },
  WAITING_REVIEW: { mark: 'held', word: 'Needs review' },
  WAITING: { mark: 'queued', word: 'Waiting' },
  WAITING_FOR_BUILD: { mark: 'held', word: 'Waits for build' },
  COMPLETED: { mark: 'done', word: 'Completed' },
  FAILED: { mark: 'failed', word: 'Failed' },
  CANCELLED: { mark: 'stopped', word: 'Cancelled' },
  REJECTED: { mark: 'failed', word: 'Rejected' },
}

const TASK_STATUS: Readonly<Record<TaskStatus, Shown>> = {
  PENDING: { mark: 'queued', word: 'Waiting' },
  RUNNING: { mark: 'live', word: 'Running' },
  COMPLETED: { mark: 'done', word: 'Completed' },
  FAILED: { mark: 'failed', word: 'Failed' },
  SKIPPED: { mark: 'skipped', word: 'Skipped' },
  CANCELLED: { mark: 'stopped', word: 'Cancelled' },
}

/** Returns the label of a run that waits; `hold` is what {@link labelHold} returns for its reviews. */
export function labelRun(status: RunStatus, hold: Shown | undefined): Shown {
  return isWaitingRunStatus(status) && hold !== undefined ? hold : RUN_STATUS[status]
}

const NEEDS_REVIEW: Shown = RUN_STATUS.WAITING_REVIEW
const WAITS_FOR_CLIENT: Shown = { mark: 'held', word: 'Waits for client' }
const WAITS_FOR_EVENT: Shown = { mark: 'queued', word: 'Waits for event' }
const SLEEPING: Shown = { mark: 'queued', word: 'Sleeping' }

/** Labels of open reviews, the most urgent first. */
const HOLDS: readonly Shown[] = [NEEDS_REVIEW, WAITS_FOR_CLIENT, WAITS_FOR_EVENT, SLEEPING]

/** Returns the label of what the open ones of `reviews` wait for, the most urgent first; undefined if none is open. */
export function labelHold(
  reviews: readonly Pick<ReviewState, 'status' | 'kind' | 'waitsFor'>[],
): Shown | undefined {
  const found = new Set(
    reviews.flatMap((review) => (review.status === 'OPEN' ? [labelWait(review)] : [])),
  )
  return HOLDS.find((hold) => found.has(hold))
}

function labelWait({ kind, waitsFor = [] }: Pick<ReviewState, 'kind' | 'waitsFor'>): Shown {
  if (kind === 'CLIENT_TOOL') return WAITS_FOR_CLIENT
  if (kind !== 'EVENT') return NEEDS_REVIEW
  return waitsFor.length === 0 ? SLEEPING : WAITS_FOR_EVENT
}

/** Returns the label of a task; `hold` is what {@link labelHold} returns for its reviews. */
export function labelTask(
  task: Pick<TaskState, 'status' | 'error'>,
  hold: Shown | undefined,
): Shown {
  if (hold !== undefined) return hold
  if (task.status === 'FAILED' && task.error?.willRetry === true) {
    return { mark: 'queued', word: 'Trying again' }
  }
  return TASK_STATUS[task.status]
}

/** Labels of model turns. */
export const TURN_STATUS: Readonly<Record<TurnState['status'], Shown>> = {
  RUNNING: { mark: 'live', word: 'Answering' },
  COMPLETED: { mark: 'done', word: 'Answered' },
  FAILED: { mark: 'failed', word: 'Failed' },
}

/** Returns the reason why a model ended an answer early; undefined for a complete answer. */
export function describeEarlyEnd(reason: FinishReason | undefined): string | undefined {
  switch (reason) {
    case 'length':
      return 'Cut off at the output limit'
    case 'refusal':
      return 'Refused to answer'
    case 'content_filter':
      return 'Blocked by a content filter'
    default:
      return undefined
  }
}

export const CALL_STATUS: Readonly<Record<ToolCallState['status'], Shown>> = {
  RUNNING: { mark: 'live', word: 'Running' },
  SUCCEEDED: { mark: 'done', word: 'Succeeded' },
  FAILED: { mark: 'failed', word: 'Failed' },
}

/** Labels of calls to other agents. */
export const AGENT_CALL_STATUS: Readonly<Record<AgentCallState['status'], Shown>> = {
  RUNNING: { mark: 'live', word: 'Waiting' },
  COMPLETED: { mark: 'done', word: 'Answered' },
  TERMINATED: { mark: 'stopped', word: 'Stopped' },
  FAILED: { mark: 'failed', word: 'Failed' },
  INTERRUPTED: { mark: 'stopped', word: 'Interrupted' },
}

export const DELEGATION_STATUS: Readonly<Record<DelegationState['status'], Shown>> = {
  RUNNING: { mark: 'live', word: 'Running' },
  COMPLETED: { mark: 'done', word: 'Completed' },
  FAILED: { mark: 'failed', word: 'Failed' },
}

/** Returns the role of a task's agent, and after a handoff also that of the active agent. */
export function formatAgents({
  agentRole,
  activeAgent = agentRole,
}: Pick<TaskState, 'agentRole' | 'activeAgent'>): string {
  return activeAgent === agentRole ? agentRole : `${agentRole} › ${activeAgent}`
}

/** Returns the text of a directive: its content, or its action. */
export function formatDirective({
  content,
  action,
  value,
}: Pick<DirectiveState, 'content' | 'action' | 'value'>): string {
  return content ?? [action, value].filter(Boolean).join(' ')
}

/** Titles of reviews in the history of a run. */
export const REVIEW_TITLES: Readonly<Record<ReviewKind, string>> = {
  TASK_INPUT: 'Review before the task',
  TASK_OUTPUT: 'Review of the output',
  TOOL_CALL: 'Review of a tool call',
  QUESTION: 'Question',
  CLIENT_TOOL: 'Call of a client tool',
  EVENT: 'Wait',
}

/** Labels of review decisions. */
export const DECISION: Readonly<Record<ReviewDecisionKind, string>> = {
  CONTINUE: 'Approved',
  EDIT: 'Edited',
  REJECT: 'Rejected',
  EXIT_EARLY: 'Ended the run early',
}

const TIMED_OUT: Readonly<Record<ReviewTimeoutAction, string>> = {
  CONTINUE: 'Timed out: the task continued',
  EXIT_EARLY: 'Timed out: the run ended early',
  FAIL: 'Timed out: the task failed',
}

/** Returns the label of a review, with its decision and reviewer. */
export function labelReview(review: ReviewState): Shown {
  const { status, decision, decidedBy, action, reason = 'the task ended' } = review
  switch (status) {
    case 'OPEN':
      return labelWait(review)
    case 'DECIDED': {
      const word = decision === undefined ? 'Decided' : DECISION[decision]
      const mark = decision === 'REJECT' ? 'failed' : 'done'
      return { mark, word: decidedBy === undefined ? word : `${word} by ${decidedBy}` }
    }
    case 'TIMED_OUT':
      return { mark: 'skipped', word: action === undefined ? 'Timed out' : TIMED_OUT[action] }
    case 'WITHDRAWN':
      return { mark: 'skipped', word: `Withdrawn: ${reason}` }
  }
}

/** Returns the label of an event type: `tool_called` → `Tool called`. */
export function labelEventType(type: LoggedRunEvent['type']): string {
  const words = type.replaceAll('_', ' ').replace('llm iteration', 'model call')
  return words.charAt(0).toUpperCase() + words.slice(1)
}
