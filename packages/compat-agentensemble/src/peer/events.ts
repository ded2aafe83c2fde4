/** Pure: maps the events of a run to the messages for a peer. */
import { readRunOutput, RunProjection } from '@tutti/protocol'

import { describeCancel, type WireError } from '@tutti/gateway/internal'

import type { RunEvent, RunEventOf, ServerMessage } from '@tutti/protocol'
import type { TaskRequest, ToolRequest } from '@tutti/protocol/internal'

/** Progress of a task, without its `requestId`. */
export type PeerTaskProgress = Omit<
  Extract<ServerMessage, { type: 'task_progress' }>,
  'type' | 'requestId'
>

/** End of a task, without its `requestId`. */
export type PeerTaskEnd = Omit<
  Extract<ServerMessage, { type: 'task_response' }>,
  'type' | 'requestId'
>

/** Returns a function that maps the events of one run, in order, to progress; most map to undefined. */
export function taskReporter(): (event: RunEvent) => PeerTaskProgress | undefined {
  const run = new RunProjection()
  let done = 0
  return (event) => {
    for (const operation of run.take(event)) {
      if (operation.type === 'review_opened') {
        const message = `"${operation.review.taskName}" is waiting for a review`
        return { status: 'WAITING_REVIEW', message }
      }
      if (operation.type !== 'task' || operation.status !== 'COMPLETED') continue
      const totalTasks = 'totalTasks' in event ? event.totalTasks : 1
      done += 1
      return {
        status: 'RUNNING',
        message: `"${operation.name}" completed: ${done} of ${totalTasks}`,
        percentComplete: Math.min(100, Math.round((100 * done) / Math.max(1, totalTasks))),
      }
    }
    return undefined
  }
}

/** Returns the end of a task from the end of its run and its deadline, both in milliseconds since 1970. */
export function toTaskEnd(event: RunEventOf<'run_result'>): PeerTaskEnd {
  const { status, durationMs, error, cancel } = event
  if (status === 'COMPLETED') {
    return { status, result: readRunOutput(event) ?? '', durationMs }
  }
  if (status === 'FAILED') return { status, error: error ?? 'The run failed', durationMs }
  return { status: 'FAILED', error: describeCancel(cancel), durationMs }
}

/** The response to a request of a peer. */
export type PeerResponse = Extract<ServerMessage, { type: 'task_response' | 'tool_response' }>

/**
 * Returns the response to a refused request: REJECTED, or FAILED for an internal error. The text begins with the code,
 * because the message has no field for it.
 */
export function toPeerRefusal(
  { status, body }: WireError,
  { type, requestId }: TaskRequest | ToolRequest,
): PeerResponse {
  return {
    type: type === 'task_request' ? 'task_response' : 'tool_response',
    requestId,
    status: status === 500 ? 'FAILED' : 'REJECTED',
    error: `${body.error}: ${body.message}`,
  }
}
