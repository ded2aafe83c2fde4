/**
 * `@tutti/client`: submit, follow and steer the runs of a Tutti server, from a browser or Node.
 */

// To call a server
export { createClient } from './create-client.ts'
export type { TuttiClient } from './create-client.ts'
export type { ClientOptions, Fetch, ReconnectOptions } from './options.ts'
export type { ReviewsClient } from './reviews-client.ts'
export type {
  CancelOptions,
  InjectOptions,
  RunsClient,
  SubmitOptions,
  SwitchModelOptions,
} from './runs-client.ts'
export type { CallOptions } from './http/call-route.ts'

// To follow a run
export type { FollowOptions, LoggedRunEventOf, RunEventsOptions } from './events/run-events.ts'
export type { ConnectionState } from './events/connection-state.ts'

// To handle a failure
export { LOCAL_ERROR_CODES, TuttiClientError } from './errors.ts'
export type { ClientErrorCode, LocalErrorCode, TuttiClientErrorOptions } from './errors.ts'

// To test
export type { Clock } from './clock.ts'
