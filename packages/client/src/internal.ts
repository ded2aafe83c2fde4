/** For the other packages of Tutti only: its names may change in every version. */
export type { Fetch, OpenSocket, ReconnectOptions, SocketLike } from './options.ts'
export type { ReviewsClient } from './reviews-client.ts'
export type {
  ActionDirective,
  CancelOptions,
  ForkBody,
  InjectOptions,
  ResultOptions,
  RunAndWaitOptions,
  RunsClient,
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
export type { FollowOptions, RunEventsOptions } from './events/run-events.ts'
export type { Clock, RunCommandKind } from '@tutti/protocol/internal'
export type { CommandOptions, CommandRequest, CommandSender } from './commands.ts'
export { LOCAL_ERROR_CODES, type LocalErrorCode, type TuttiClientErrorOptions } from './errors.ts'
