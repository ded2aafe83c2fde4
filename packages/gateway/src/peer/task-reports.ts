/** Pure: from what happens in the run of a peer's task to what the peer is told of it. */
import type { RunRecord } from '@tutti/runs'
import type { RunEvent, RunEventOf, ServerMessage } from '@tutti/protocol'

/** What a peer is told while its task goes on, but for whom it is. */
export type TaskNews = Omit<Extract<ServerMessage, { type: 'task_progress' }>, 'type' | 'requestId'>

/** How the task of a peer ended, but for whom it is. */
export type TaskEnd = Omit<Extract<ServerMessage, { type: 'task_response' }>, 'type' | 'requestId'>

/** Makes what a peer is told of each event of its run, given in order; undefined for most. */
export function taskReporter(): (event: RunEvent) => TaskNews | undefined {
  let done = 0
  return (event) => {
    if (event.type === 'review_requested') {
      return { status: 'WAITING_REVIEW', message: `"${event.taskName}" waits for a review` }
    }
    if (event.type !== 'task_completed') return undefined
    const { taskName, totalTasks } = event
    done += 1
    return {
      status: 'RUNNING',
      message: `"${taskName}" is completed: ${done} of ${totalTasks}`,
      percentComplete: Math.min(100, Math.round((100 * done) / Math.max(1, totalTasks))),
    }
  }
}

/** How the task ended, by the result of its run and the deadline that it had, in milliseconds since 1970. */
export function taskEnd(
  { status, outputs, durationMs, error }: RunEventOf<'run_result'>,
  { endedAt, deadlineAt = Infinity }: { readonly endedAt: number; readonly deadlineAt?: number },
): TaskEnd {
  if (status === 'COMPLETED') {
    return { status, result: outputs.at(-1)?.output ?? '', durationMs }
  }
  if (status === 'FAILED') return { status, error: error ?? 'The run failed', durationMs }
  const why =
    endedAt >= deadlineAt
      ? 'The deadline passed before the task was done, and its run was cancelled'
      : 'The run of the task was cancelled'
  return { status: 'FAILED', error: why, durationMs }
}

/** When the run of a task has to be done, in milliseconds since 1970; undefined when it has no deadline. */
export function deadlineOf(
  { createdAt }: Pick<RunRecord, 'createdAt'>,
  deadlineMs: number | undefined,
): number | undefined {
  return deadlineMs === undefined ? undefined : createdAt + deadlineMs
}
