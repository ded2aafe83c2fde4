/**
 * Pure: what the events of a run tell that its state no longer holds: attempts that were followed by
 * another, with their work, and when a model was switched, a cancel asked for, a run taken up again.
 */
import { stateAfter, type FollowedLog } from '../../api/run-log.ts'

import type { TaskState } from '@tutti/protocol'
import type { TimelineMark } from './spans.ts'

/** What has been, as far as the first `count` events tell. */
export interface RunHistory {
  readonly count: number
  /** Ended attempts of each task, in order. */
  readonly attempts: ReadonlyMap<string, readonly TaskState[]>
  /** In order. */
  readonly marks: readonly TimelineMark[]
}

/** The history of a run of which nothing has been read. */
export const NO_HISTORY: RunHistory = { count: 0, attempts: new Map(), marks: [] }

/** The history with the events of the log that it does not know yet. */
export function historyAfter(history: RunHistory, log: FollowedLog): RunHistory {
  if (history.count === log.events.length) return history
  if (history.count > log.events.length) return historyAfter(NO_HISTORY, log)
  const attempts = new Map(history.attempts)
  const marks = [...history.marks]
  for (let seq = history.count; seq < log.events.length; seq += 1) {
    const mark = markOf(log, seq)
    if (mark !== undefined) marks.push(mark)
    const ended = endedAttempt(log, seq)
    if (ended === undefined) continue
    attempts.set(ended.name, [...(attempts.get(ended.name) ?? []), ended])
  }
  return { count: log.events.length, attempts, marks }
}

/** The attempt that another one follows with this event. */
function endedAttempt(log: FollowedLog, seq: number): TaskState | undefined {
  const event = log.events[seq]
  if (event?.type !== 'task_started' || event.attempt < 2) return undefined
  const before = stateAfter(log, seq).tasks.find(({ name }) => name === event.taskName)
  return before === undefined || before.attempt === 0 || before.attempt >= event.attempt
    ? undefined
    : before
}

function markOf({ events, instants }: FollowedLog, seq: number): TimelineMark | undefined {
  const event = events[seq]
  const atMs = instants[seq] ?? 0
  switch (event?.type) {
    case 'model_switched': {
      const { model, previousModel, taskName, actor } = event
      const target = taskName === undefined ? {} : { target: { taskName } }
      return { kind: 'switch', atMs, ...target, change: { model, previousModel, taskName, actor } }
    }
    case 'run_cancelling':
      return { kind: 'cancel', atMs, mode: event.mode, actor: event.actor }
    case 'run_resumed':
      return { kind: 'resume', atMs, epoch: event.epoch }
    default:
      return undefined
  }
}
