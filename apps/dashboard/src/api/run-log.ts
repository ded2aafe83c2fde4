/**
 * The events of a run as far as they are known, and the run after any number of them. Pure.
 *
 * R1 The state is what `applyRunEvent` of the protocol makes of the events; nothing else decides it.
 * R2 An event that is there already is not taken again, and one that leaves a gap is not taken at all.
 * R3 The run at any place costs at most `STEP` events: the states on the way are kept, and share what they
 *    have in common.
 * R4 Instants never go back; an event that does not say when it was is as late as the one before.
 */
import {
  applyRunEvent,
  emptyRunState,
  eventTime,
  type LoggedRunEvent,
  type RunState,
} from '@tutti/protocol'

/** Events between two states that are kept. */
const STEP = 256

/** A log and what it tells. */
export interface FollowedLog {
  /** In order and without gaps; the place of an event is its `seq`. */
  readonly events: readonly LoggedRunEvent[]
  /** When each was, in milliseconds since 1970. */
  readonly instants: readonly number[]
  /** The run after all of them. */
  readonly state: RunState
  /** The run after 0, `STEP`, 2 `STEP`, … events. */
  readonly kept: readonly RunState[]
}

/** A log without events. */
export function emptyRunLog(): FollowedLog {
  const state = emptyRunState()
  return { events: [], instants: [], state, kept: [state] }
}

export function withEvents(log: FollowedLog, more: readonly LoggedRunEvent[]): FollowedLog {
  const events = [...log.events]
  const instants = [...log.instants]
  const kept = [...log.kept]
  let { state } = log
  for (const event of more) {
    if (event.seq !== events.length) continue
    events.push(event)
    instants.push(Math.max(instants.at(-1) ?? 0, eventTime(event) ?? 0))
    state = applyRunEvent(state, event)
    if (events.length % STEP === 0) kept.push(state)
  }
  return events.length === log.events.length ? log : { events, instants, state, kept }
}

/** The run after the first `count` events. */
export function stateAfter(log: FollowedLog, count: number): RunState {
  if (count >= log.events.length) return log.state
  const at = Math.max(0, Math.floor(count / STEP))
  let state = log.kept[at] ?? emptyRunState()
  for (const event of log.events.slice(at * STEP, count)) state = applyRunEvent(state, event)
  return state
}
