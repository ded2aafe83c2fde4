/**
 * The events of a run received so far, and its state after any number of them. Pure.
 *
 * DASH-R1 The state is the result of `RunStateFold` of the protocol, and of nothing else.
 * DASH-R2 Duplicate events and events after a gap are ignored.
 * DASH-R3 The state at any position costs at most `STEP` events, or as many as the run has tasks:
 *    intermediate states are stored, and share their tasks. Each has a list of all tasks, so that their
 *    total size grows with the number of events.
 * DASH-R4 Instants never decrease; an event without a time gets that of the previous event.
 */
import { emptyRunState, RunStateFold, type LoggedRunEvent, type RunState } from '@tutti/protocol'
import { eventTime } from '@tutti/protocol/internal'

/** Minimum number of events between two stored states. */
const STEP = 256

/** The state after `count` events. */
interface Snapshot {
  readonly count: number
  readonly state: RunState
}

/** A log and the states computed from it. */
export interface FollowedLog {
  /** In order and without gaps; the index of an event is its `seq`. */
  readonly events: readonly LoggedRunEvent[]
  /** Times of the events, in milliseconds since 1970. */
  readonly instants: readonly number[]
  /** State after all events. */
  readonly state: RunState
  /** States after 0 and more events, in order. */
  readonly snapshots: readonly Snapshot[]
}

/** Creates an empty log. */
export function createRunLog(): FollowedLog {
  const state = emptyRunState()
  return { events: [], instants: [], state, snapshots: [{ count: 0, state }] }
}

export function appendEvents(log: FollowedLog, more: readonly LoggedRunEvent[]): FollowedLog {
  const events = [...log.events]
  const instants = [...log.instants]
  const snapshots = [...log.snapshots]
  const fold = new RunStateFold(log.state)
  for (const event of more) {
    if (event.seq !== events.length) continue
    events.push(event)
    instants.push(Math.max(instants.at(-1) ?? 0, eventTime(event) ?? 0))
    fold.take(event)
    const last = snapshots.at(-1)
    const step = Math.max(STEP, last?.state.tasks.length ?? 0)
    if (events.length - (last?.count ?? 0) < step) continue
    snapshots.push({ count: events.length, state: fold.state })
  }
  return events.length === log.events.length
    ? log
    : { events, instants, state: fold.state, snapshots }
}

/** Returns the state after the first `count` events. */
export function computeStateAfter(log: FollowedLog, count: number): RunState {
  if (count >= log.events.length) return log.state
  const start = log.snapshots.findLast((snapshot) => snapshot.count <= count)
  const fold = new RunStateFold(start?.state)
  for (const event of log.events.slice(start?.count ?? 0, count)) fold.take(event)
  return fold.state
}
