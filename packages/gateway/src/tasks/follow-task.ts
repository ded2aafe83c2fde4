/** Follows a task to its end, or to a review that is open. */
import { limitOver, type RunLimits } from './caller-limits.ts'
import { taskAccount, type TaskEnd, type TaskLine } from './task-account.ts'

import type { GatewayOptions } from '../gateway-options.ts'
import type { OpenTask } from './open-task.ts'

/** What is followed, and for how long. */
export interface FollowTaskOptions {
  readonly options: Pick<GatewayOptions, 'runs' | 'clock'>
  /** What the caller holds the run to, for the words of its end. */
  readonly limits: RunLimits
  /** Aborts when nobody wants to know any more. */
  readonly signal: AbortSignal
}

/**
 * The lines of a task as they come, and last its end; without an end when `signal` aborts.
 *
 * @throws {TuttiError} STORE_UNAVAILABLE when its events cannot be read.
 */
export async function* followTask(
  { run: { runId }, sessionId, tellFrom, stopFrom }: OpenTask,
  { options: { runs, clock }, limits, signal }: FollowTaskOptions,
): AsyncGenerator<readonly (TaskLine | TaskEnd)[]> {
  const tell = taskAccount({
    id: runId,
    sessionId,
    stopFrom,
    whyCancelled: (used) => limitOver(limits, used, clock.now()),
  })
  for await (const events of runs.follow({ runId, from: 0, signal })) {
    const lines: (TaskLine | TaskEnd)[] = []
    for (const event of events) {
      const { line, end } = tell(event)
      if (line !== undefined && event.seq >= tellFrom) lines.push(line)
      if (end === undefined) continue
      yield [...lines, end]
      return
    }
    if (lines.length > 0) yield lines
  }
}

/** Whether this is the end of a task, and no line before it. */
export function isTaskEnd(line: TaskLine | TaskEnd): line is TaskEnd {
  return line.status !== 'working'
}
