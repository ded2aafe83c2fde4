/**
 * Guarded network access for tools and agents on Node. To send requests: `networkGuard`, `guardedRequest`,
 * `guardedFetch`.
 */

// To send requests
export {
  guardAround,
  networkGuard,
  type NetworkGuard,
  type NetworkGuardOptions,
  type ResolveHost,
} from './http/network-guard.ts'
export { guardedRequest, type GuardedResponse } from './http/guarded-request.ts'
export { guardedFetch, type GuardedFetch, type GuardedFetchOptions } from './http/guarded-fetch.ts'
export { HttpConnections, type OutgoingRequest, type HttpResponse } from './http/connections.ts'
export { NetworkError, toNetworkError, type NetworkErrorKind } from './http/network-error.ts'
export { findHeaderProblems } from './http/header-rules.ts'
export type { GuardedRequestOptions, RequestSettings } from './http/options.ts'
export type { Hop } from './http/redirect.ts'

export { decodePart, separateLogin } from './http/url-login.ts'

// To read answers
export { readLimitedBody, watchBody, type LimitedBody } from './http/body.ts'
export { decodeBody } from './http/decode-body.ts'
export { ACCEPTED_CODINGS } from './http/decompress.ts'
export { MessageSize } from './http/message-size.ts'
export { readRetryAfter } from './http/retry-after.ts'

// To share a WebSocket
export {
  LinkClosedError,
  SocketLink,
  type Addressed,
  type SocketDialect,
  type SocketLinkSettings,
  type SocketUser,
} from './ws/socket-link.ts'

export { quietClock, quietSystemClock } from './quiet-clock.ts'

// To start processes
export {
  findProcessProblems,
  PROCESS_OPTION_NAMES,
  resolveProcessOptions,
  type ProcessOptions,
  type ResolvedProcessOptions,
} from './process/options.ts'
export {
  DRAIN_MS,
  startProcess,
  type ProcessExit,
  type ProcessStart,
  type RunningProcess,
} from './process/running-process.ts'
