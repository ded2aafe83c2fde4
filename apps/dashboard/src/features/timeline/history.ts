/**
 * Facts in the events of a run that its state no longer contains: earlier attempts, model switches,
 * cancel requests and resumptions. Pure.
 */
import { computeStateAfter, type FollowedLog } from '../../api/run-log.ts'

import type { TaskState } from '@tutti/protocol/internal'
import type { TimelineMark } from './spans.ts'

/** The history after the first `count` events. */
export interface RunHistory {
  readonly count: number
  /** Ended attempts of each task, in order. */
  readonly attempts: ReadonlyMap<string, readonly TaskState[]>
  /** In order of time. */
  readonly marks: readonly TimelineMark[]
}

/** An empty history. */
export const NO_HISTORY: RunHistory = { count: 0, attempts: new Map(), marks: [] }

/** Extends a history with the new events of the log. */
export function extendHistory(history: RunHistory, log: FollowedLog): RunHistory {
  if (history.count === log.events.length) return history
  if (history.count > log.events.length) return extendHistory(NO_HISTORY, log)
  const attempts = new Map(history.attempts)
  const marks = [...history.marks]
  for (let seq = history.count; seq < log.events.length; seq += 1) {
    const mark = toMark(log, seq)
    if (mark !== undefined) marks.push(mark)
    const ended = findEndedAttempt(log, seq)
    if (ended === undefined) continue
    attempts.set(ended.name, [...(attempts.get(ended.name) ?? []), ended])
  }
  return { count: log.events.length, attempts, marks }
}

/** Returns the attempt that ended before the attempt started by this event. */
function findEndedAttempt(log: FollowedLog, seq: number): TaskState | undefined {
  const event = log.events[seq]
  if (event?.type !== 'task_started' || event.attempt < 2) return undefined
  const before = computeStateAfter(log, seq).tasks.find(({ name }) => name === event.taskName)
  return before === undefined || before.attempt === 0 || before.attempt >= event.attempt
    ? undefined
    : before
}

function toMark({ events, instants }: FollowedLog, seq: number): TimelineMark | undefined {
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
