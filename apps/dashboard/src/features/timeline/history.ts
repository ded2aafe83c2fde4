/**
 * Facts in the events of a run that its state no longer contains: earlier attempts, model switches,
 * cancel requests and resumptions. Pure.
 */
import { computeStateAfter, type FollowedLog } from '../../api/run-log.ts'

import type { RunEntry } from '../../api/run-entries.ts'
import type { TaskState } from '@tutti/protocol/internal'

/** The history after the first `count` events. */
export interface RunHistory {
  readonly count: number
  /** Ended attempts of each task, in order. */
  readonly attempts: ReadonlyMap<string, readonly TaskState[]>
  /** Entries of the whole run, in order of time. */
  readonly marks: readonly RunEntry[]
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

function toMark({ events, instants }: FollowedLog, seq: number): RunEntry | undefined {
  const event = events[seq]
  const atMs = instants[seq] ?? 0
  const moment = { startMs: atMs, endMs: atMs, status: 'done' } as const
  switch (event?.type) {
    case 'model_switched': {
      const { taskName } = event
      const target = taskName === undefined ? {} : { target: { taskName } }
      return { kind: 'switch', ...moment, ...target, change: event }
    }
    case 'run_cancelling':
      return { kind: 'cancel', ...moment, mode: event.mode, actor: event.actor }
    case 'run_resumed':
      return { kind: 'resume', ...moment }
    default:
      return undefined
  }
}
