/** Pure: what an event changes in the records of its run. Every store applies the same changes. */
import type { RunRecord, TaskRecord } from './run-record.ts'
import type { RunEvent } from '@tutti/protocol'

/** One change of the records of a run. */
export type Change =
  | { readonly kind: 'run'; readonly set: Partial<RunFields>; readonly addCompletedTasks?: number }
  | { readonly kind: 'new_task'; readonly task: NewTask }
  | {
      readonly kind: 'task'
      readonly taskIndex: number
      readonly set: Partial<TaskFields>
      readonly addToolCalls?: number
    }

/** Fields of a run that events change. */
export type RunFields = Pick<
  Required<RunRecord>,
  'status' | 'startedAt' | 'completedAt' | 'durationMs' | 'error'
>

/** Fields of a task that events change. */
export type TaskFields = Omit<
  Required<TaskRecord>,
  'taskIndex' | 'name' | 'description' | 'agentRole'
>

/** A task that has not begun. */
export type NewTask = Pick<TaskRecord, 'taskIndex' | 'name' | 'description' | 'agentRole'>

/** The changes that `event` makes, in order; none for most events. */
export function changesOf(event: RunEvent): readonly Change[] {
  switch (event.type) {
    case 'ensemble_started':
      return [
        { kind: 'run', set: { status: 'RUNNING', startedAt: Date.parse(event.startedAt) } },
        ...event.tasks.map(({ name, description, agentRole }, index): Change => ({
          kind: 'new_task',
          task: { taskIndex: index + 1, name, description, agentRole },
        })),
      ]
    case 'run_resumed':
      return [{ kind: 'run', set: { status: 'RUNNING' } }]
    case 'run_cancelling':
      return [{ kind: 'run', set: { status: 'CANCELLING' } }]
    case 'ensemble_completed':
      return [{ kind: 'run', set: { completedAt: Date.parse(event.completedAt) } }]
    case 'run_result':
      return [runEnd(event)]
    default:
      return taskChangesOf(event)
  }
}

function runEnd(event: Extract<RunEvent, { type: 'run_result' }>): Change {
  return {
    kind: 'run',
    set: {
      status: event.status,
      durationMs: event.durationMs,
      ...(event.error === undefined ? {} : { error: event.error }),
    },
  }
}

function taskChangesOf(event: RunEvent): readonly Change[] {
  switch (event.type) {
    case 'task_started':
      return [
        change(event, {
          status: 'RUNNING',
          attempt: event.attempt,
          startedAt: Date.parse(event.startedAt),
          inputTokens: 0,
          outputTokens: 0,
          toolCallCount: 0,
        }),
      ]
    case 'metrics_snapshot':
      return [change(event, { inputTokens: event.inputTokens, outputTokens: event.outputTokens })]
    case 'tool_called':
      // A step is a part of a call that is counted itself.
      return event.parentToolCallId === undefined ? [{ ...change(event, {}), addToolCalls: 1 }] : []
    case 'task_completed':
      return [
        change(event, {
          status: 'COMPLETED',
          completedAt: Date.parse(event.completedAt),
          durationMs: event.durationMs,
          inputTokens: event.inputTokens,
          outputTokens: event.outputTokens,
          toolCallCount: event.toolCallCount,
          output: event.output,
        }),
        { kind: 'run', set: {}, addCompletedTasks: 1 },
      ]
    case 'task_failed':
      return [
        change(event, {
          status: event.code === 'CANCELLED' ? 'CANCELLED' : 'FAILED',
          completedAt: Date.parse(event.failedAt),
          durationMs: event.durationMs,
          error: event.reason,
        }),
      ]
    case 'task_skipped':
      return [change(event, { status: 'SKIPPED', error: event.reason })]
    default:
      return []
  }
}

type TaskChange = Extract<Change, { kind: 'task' }>

function change(
  { taskIndex }: { readonly taskIndex: number },
  set: Partial<TaskFields>,
): TaskChange {
  return { kind: 'task', taskIndex, set }
}
