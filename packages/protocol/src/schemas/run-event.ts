/**
 * The event log of a run: every event that the engine emits, in one union.
 *
 * An event without its envelope is a `RunEvent`; written to a log it gets a position and is a
 * `LoggedRunEvent`, which is what every reader (WebSocket, SSE, client, dashboard) sees.
 * Names, fields and their order are AgentEnsemble's. Ours are added after them: required here, as
 * our server always sends them, and ignored by AgentEnsemble's dashboard.
 *
 * E1 `type` comes first and tells the members apart.
 * E2 `seq` starts at 0 in each run and has no gap; `id` is stable and safe as an SSE event id.
 * E3 `run_queued` is the first event, and `run_result` the last, of a run.
 */
import Type from 'typebox'
import {
  DelegationCompleted,
  DelegationFailed,
  DelegationStarted,
  FileChanged,
  LlmIterationCompleted,
  LlmIterationFailed,
  LlmIterationStarted,
  Token,
  ToolCalled,
  ToolProgressed,
} from './events/agent-events.ts'
import {
  AgentToolCompleted,
  AgentToolError,
  AgentToolInvoked,
  AgentToolProgress,
  AgentToolTerminated,
  AgentToolTurn,
} from './events/agent-tool-events.ts'
import {
  EnsembleCompleted,
  EnsembleStarted,
  RunCancelling,
  RunQueued,
  RunResultEvent,
  RunResumed,
} from './events/run-events.ts'
import {
  DirectiveActive,
  DirectiveDelivered,
  ModelSwitchedEvent,
  ReviewDecided,
  ReviewRequested,
  ReviewTimedOut,
  ReviewWithdrawn,
} from './events/steering-events.ts'
import {
  MetricsSnapshot,
  TaskAttemptFailed,
  TaskCompleted,
  TaskFailed,
  TaskInput,
  TaskSkipped,
  TaskStarted,
} from './events/task-events.ts'
import { Count } from './scalars.ts'

/** Any event of a run, without its place in the log. Narrows by `type`. */
export const RunEvent = Type.Union([
  RunQueued,
  RunResumed,
  RunCancelling,
  EnsembleStarted,
  TaskStarted,
  TaskInput,
  LlmIterationStarted,
  Token,
  LlmIterationCompleted,
  LlmIterationFailed,
  ToolProgressed,
  ToolCalled,
  AgentToolInvoked,
  AgentToolProgress,
  AgentToolTurn,
  AgentToolCompleted,
  AgentToolTerminated,
  AgentToolError,
  DelegationStarted,
  DelegationCompleted,
  DelegationFailed,
  TaskCompleted,
  TaskAttemptFailed,
  TaskFailed,
  TaskSkipped,
  MetricsSnapshot,
  ReviewRequested,
  ReviewTimedOut,
  ReviewDecided,
  ReviewWithdrawn,
  DirectiveActive,
  DirectiveDelivered,
  FileChanged,
  ModelSwitchedEvent,
  EnsembleCompleted,
  RunResultEvent,
])
export type RunEvent = Type.Static<typeof RunEvent>

/** The `type` of every run event, in the order of the union. */
export const RUN_EVENT_TYPES: readonly RunEvent['type'][] = RunEvent.anyOf.map(
  (member) => member.properties.type.const,
)

/** The member of `RunEvent` with this `type`. */
export type RunEventOf<T extends RunEvent['type']> = Extract<RunEvent, { type: T }>

/** Where an event stands: its run, its number in the run's log, and an id for SSE and deduplication. */
export const EventPosition = Type.Object({
  runId: Type.String(),
  seq: Count,
  id: Type.String(),
})
export type EventPosition = Type.Static<typeof EventPosition>

/** An event with its place in the log: the form in which events are stored and sent. */
export const LoggedRunEvent = Type.Intersect([RunEvent, EventPosition])
export type LoggedRunEvent = Type.Static<typeof LoggedRunEvent>
