/**
 * The events of a run received so far, and its state after any number of them. Pure.
 *
 * DASH-R1 The state is the result of `applyRunEvent` of the protocol, and of nothing else.
 * DASH-R2 Duplicate events and events after a gap are ignored.
 * DASH-R3 The state at any position costs at most `STEP` events: intermediate states are stored, and
 *    share their structure.
 * DASH-R4 Instants never decrease; an event without a time gets that of the previous event.
 */
import { applyRunEvent, emptyRunState, type LoggedRunEvent, type RunState } from '@tutti/protocol'
import { eventTime } from '@tutti/protocol/internal'

/** Number of events between two stored states. */
const STEP = 256

/** A log and the states computed from it. */
export interface FollowedLog {
  /** In order and without gaps; the index of an event is its `seq`. */
  readonly events: readonly LoggedRunEvent[]
  /** Times of the events, in milliseconds since 1970. */
  readonly instants: readonly number[]
  /** State after all events. */
  readonly state: RunState
  /** States after 0, `STEP`, 2 `STEP`, … events. */
  readonly snapshots: readonly RunState[]
}

/** Creates an empty log. */
export function createRunLog(): FollowedLog {
  const state = emptyRunState()
  return { events: [], instants: [], state, snapshots: [state] }
}

export function appendEvents(log: FollowedLog, more: readonly LoggedRunEvent[]): FollowedLog {
  const events = [...log.events]
  const instants = [...log.instants]
  const snapshots = [...log.snapshots]
  let { state } = log
  for (const event of more) {
    if (event.seq !== events.length) continue
    events.push(event)
    instants.push(Math.max(instants.at(-1) ?? 0, eventTime(event) ?? 0))
    state = applyRunEvent(state, event)
    if (events.length % STEP === 0) snapshots.push(state)
  }
  return events.length === log.events.length ? log : { events, instants, state, snapshots }
}

/** Returns the state after the first `count` events. */
export function computeStateAfter(log: FollowedLog, count: number): RunState {
  if (count >= log.events.length) return log.state
  const at = Math.max(0, Math.floor(count / STEP))
  let state = log.snapshots[at] ?? emptyRunState()
  for (const event of log.events.slice(at * STEP, count)) state = applyRunEvent(state, event)
  return state
}
