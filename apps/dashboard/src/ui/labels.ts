/** How the words of the wire are shown: one mark and one word for each state of a run, task, turn and call. */
import type { MarkKind } from '../ui/show/mark.tsx'
import type {
  AgentCallState,
  FinishReason,
  LoggedRunEvent,
  ReviewDecisionKind,
  RunStatus,
  TaskState,
  TaskStatus,
  ToolCallState,
  TurnState,
} from '@tutti/protocol'

/** A mark and its word. */
export interface Shown {
  readonly mark: MarkKind
  readonly word: string
}

/** A run's status. */
export const RUN_STATUS: Readonly<Record<RunStatus, Shown>> = {
  ACCEPTED: { mark: 'queued', word: 'Queued' },
  RUNNING: { mark: 'live', word: 'Running' },
  CANCELLING: { mark: 'stopping', word: 'Cancelling' },
  WAITING_REVIEW: { mark: 'held', word: 'Needs review' },
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

/** A task; `isHeld` when a review of it waits for a person. */
export function taskShown(task: Pick<TaskState, 'status' | 'error'>, isHeld: boolean): Shown {
  if (isHeld) return { mark: 'held', word: 'Needs review' }
  if (task.status === 'FAILED' && task.error?.willRetry === true) {
    return { mark: 'queued', word: 'Trying again' }
  }
  return TASK_STATUS[task.status]
}

/** A model turn. */
export const TURN_STATUS: Readonly<Record<TurnState['status'], Shown>> = {
  RUNNING: { mark: 'live', word: 'Answering' },
  COMPLETED: { mark: 'done', word: 'Answered' },
  FAILED: { mark: 'failed', word: 'Failed' },
}

/** Returns the reason for which a model ended an answer early; undefined for a complete answer. */
export function describeEarlyEnd(reason: FinishReason | undefined): string | undefined {
  switch (reason) {
    case 'length':
      return 'Cut at the output limit'
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

/** A call to another agent. */
export const AGENT_CALL_STATUS: Readonly<Record<AgentCallState['status'], Shown>> = {
  RUNNING: { mark: 'live', word: 'Asked' },
  COMPLETED: { mark: 'done', word: 'Answered' },
  TERMINATED: { mark: 'stopped', word: 'Stopped' },
  FAILED: { mark: 'failed', word: 'Failed' },
  INTERRUPTED: { mark: 'stopped', word: 'Cut off' },
}

/** What a reviewer decided, as a person says it. */
export const DECISION: Readonly<Record<ReviewDecisionKind, string>> = {
  CONTINUE: 'Approved',
  EDIT: 'Edited',
  REJECT: 'Rejected',
  EXIT_EARLY: 'Ended the run early',
}

/** `tool_called` → `Tool called`. */
export function eventWords(type: LoggedRunEvent['type']): string {
  const words = type.replaceAll('_', ' ').replace('llm iteration', 'model call')
  return words.charAt(0).toUpperCase() + words.slice(1)
}
