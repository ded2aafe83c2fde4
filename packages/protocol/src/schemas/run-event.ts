/**
 * Event log of a run: the union of all events that the engine emits.
 *
 * An event without its envelope is a `RunEvent`. Once written to a log it has a position and is a `LoggedRunEvent`: the
 * form for all readers (WebSocket, SSE, client, dashboard). Names, fields and their order are those
 * of an established format. Fields that Tutti adds follow them; they are required here because the server always sends
 * them, and other readers ignore them.
 *
 * PROTO-E1 `type` comes first and distinguishes the members.
 * PROTO-E2 `seq` starts at 0 in each run and has no gaps; `id` is stable and safe as an SSE event id.
 * PROTO-E3 `run_queued` is the first event of a run and `run_result` the last.
 */
import Type from 'typebox'
import { AGENT_EVENTS } from './events/agent-events.ts'
import { AGENT_TOOL_EVENTS } from './events/agent-tool-events.ts'
import { RUN_LEVEL_EVENTS } from './events/run-events.ts'
import { STEERING_EVENTS } from './events/steering-events.ts'
import { TASK_EVENTS } from './events/task-events.ts'
import { Count } from './scalars.ts'

import type { Static } from '../static.ts'

/** Event of a run, without its position in the log. Narrows by `type`. */
export const RunEvent = Type.Union([
  ...RUN_LEVEL_EVENTS,
  ...TASK_EVENTS,
  ...AGENT_EVENTS,
  ...AGENT_TOOL_EVENTS,
  ...STEERING_EVENTS,
])
export type RunEvent = Static<typeof RunEvent>

/** The `type` of every run event, in the order of the union. */
export const RUN_EVENT_TYPES: readonly RunEvent['type'][] = RunEvent.anyOf.map(
  (member) => member.properties.type.const,
)

/** Member of `RunEvent` with this `type`. */
export type RunEventOf<T extends RunEvent['type']> = Extract<RunEvent, { type: T }>

/** Position of an event in the log of its run. */
export const EventPosition = Type.Object({
  /** Id of the run. */
  runId: Type.String(),
  /** Number of the event in its run, from 0, without gaps. */
  seq: Count,
  /** Id of the event, for SSE and deduplication. */
  id: Type.String(),
})
export type EventPosition = Static<typeof EventPosition>

/** Event of a run with its position in the log: the form in which events are stored and sent. */
export const LoggedRunEvent = Type.Intersect([RunEvent, EventPosition])
export type LoggedRunEvent = Static<typeof LoggedRunEvent>
