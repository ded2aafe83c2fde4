/**
 * `@tutti/protocol`: schemas, types and codes of everything that Tutti sends over the wire.
 *
 * A schema and the type of its values share a name. The package has no I/O except the clock and runs in browsers.
 */

// To read a value from outside
export {
  decode,
  decodeClientMessage,
  decodeLoggedRunEvent,
  decodeRunEvent,
  decodeServerMessage,
} from './decode.ts'

// To respond with a code
export { ERROR_CODES, FAILURE_CODES, isErrorCode } from './error-codes.ts'
export type { ErrorCode, FailureCode } from './error-codes.ts'
export { ErrorBody } from './schemas/error-body.ts'

// To read the time

// To send a command to a run
export { RunCommand } from './commands.ts'

// To serve or call a route
export { routePath, ROUTES } from './routes.ts'
export type { RouteName } from './routes.ts'

// To emit, store or follow the events of a run
export { LoggedRunEvent, RunEvent } from './schemas/run-event.ts'
export type { RunEventOf } from './schemas/run-event.ts'

// To write JSON as lines

// To rebuild a run from its events
export {
  applyRunEvent,
  runStateAfter,
  RunStateFold,
  type RunFacts,
} from './run-state/apply-run-event.ts'
export { emptyRunState, type RunState } from './run-state/run-state.ts'
export { readRunOutput, toRunMessages } from './run-state/run-messages.ts'

// To show a run in another protocol
export { RunProjection } from './projection/run-projection.ts'
export type { RunOperation } from './projection/operations.ts'

// To be called as an agent, and to count usage

// To find the inputs that a text needs

// To submit, read and steer runs over REST
export { RunAccepted, SubmitRunBody } from './schemas/rest/submit-run.ts'
export { ListRunsQuery, RunDetail, RunList, RunSummary } from './schemas/rest/runs.ts'
export { ScheduleDetail } from './schemas/rest/schedules.ts'
export { Thread } from './schemas/rest/threads.ts'
export { RunMetrics } from './schemas/run-metrics.ts'
export { RunComparison } from './schemas/rest/compare-runs.ts'
export { ForkPreview, ForkRunBody } from './schemas/rest/fork-run.ts'
export { ReplayRunBody } from './schemas/rest/replay-run.ts'
export { AuditEntry, Identity } from './schemas/rest/security.ts'
export { WebhookDelivery } from './schemas/rest/webhook.ts'
export { PendingReview, ReviewDecisionBody } from './schemas/rest/reviews.ts'
export { Capabilities, EnsembleInfo, ModelInfo, ToolInfo } from './schemas/rest/capabilities.ts'
export { ServerStatus } from './schemas/rest/server.ts'

// To check a number from outside

// To talk over a WebSocket: client to server
export { ClientMessage } from './messages/client-message.ts'

// To talk over a WebSocket: server to client
export { ServerMessage } from './messages/server-message.ts'

// To read a hub of several servers

// To exchange traces and task graphs

// To run a tool as a process

// Enumerations
export { isTerminalRunStatus, RunStatus, Scope, TaskStatus } from './schemas/enums.ts'

// For library authors: to walk a JSON Schema
