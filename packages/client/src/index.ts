/**
 * `@tutti/client`: submit, follow and steer the runs of a Tutti server, from a browser or Node.
 */

// To call a server
export { createClient } from './create-client.ts'
export type { TuttiClient } from './create-client.ts'
export type { ClientOptions, Fetch, OpenSocket, ReconnectOptions, SocketLike } from './options.ts'
export type { EndedRun, RunEnd } from './ended-run.ts'
export type { ReviewsClient } from './reviews-client.ts'
export type {
  ActionDirective,
  CancelOptions,
  ForkBody,
  InjectOptions,
  ResultOptions,
  RunAndWaitOptions,
  RunsClient,
  SubmitOptions,
  SubmitRun,
  SwitchModelOptions,
} from './runs/runs-types.ts'
export type {
  ApiDocument,
  AuditClient,
  HealthClient,
  ServerClient,
  TicketsClient,
} from './server-client.ts'
export type { BuildsClient } from './builds-client.ts'
export type { ThreadsClient } from './threads-client.ts'
export type { ToolsClient } from './tools-client.ts'
export type { WorkspaceClient } from './workspace-client.ts'
export type { CallOptions } from './http/exchange.ts'

// To follow a run
export type { FollowOptions, LoggedRunEventOf, RunEventsOptions } from './events/run-events.ts'
export type { ConnectionState } from './events/connection-state.ts'
export type { LoggedRunEvent, RunCommandKind, RunEvent } from '@tutti/protocol'

// To send commands another way
export type { CommandOptions, CommandRequest, CommandSender } from './commands.ts'

// To talk over a WebSocket
export type {
  ConnectOptions,
  RunSubscription,
  SubscribeOptions,
  TuttiConnection,
} from './socket/connection-types.ts'

// To handle a failure
export { LOCAL_ERROR_CODES, TuttiClientError, UnfinishedRunError } from './errors.ts'
export type { ClientErrorCode, LocalErrorCode, TuttiClientErrorOptions } from './errors.ts'

// To test
export type { Clock } from '@tutti/protocol'
