/**
 * `@tutti/client`: submit, follow and steer the runs of a Tutti server, from a browser or Node.
 */

// To call a server
export { createClient } from './create-client.ts'
export type { TuttiClient } from './create-client.ts'
export type { ClientOptions } from './options.ts'
export type { EndedRun, RunEnd } from './ended-run.ts'
export type { SubmitOptions, SubmitRun } from './runs/runs-types.ts'

// To follow a run
export type { LoggedRunEventOf } from './events/run-events.ts'
export type { ConnectionState } from './events/connection-state.ts'
export type { LoggedRunEvent, RunEvent } from '@tutti/protocol'

// To send commands another way

// To talk over a WebSocket
export type {
  ConnectOptions,
  RunSubscription,
  SubscribeOptions,
  TuttiConnection,
} from './socket/connection-types.ts'

// To handle a failure
export { TuttiClientError, UnfinishedRunError } from './errors.ts'
export type { ClientErrorCode } from './errors.ts'

// To test
