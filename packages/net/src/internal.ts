/**
 * Guarded network access for tools and agents on Node. To send requests: `networkGuard`, `guardedRequest`, `guardedFetch`.
 *
 * For the other packages of Tutti only: its names may change in every version.
 */
export {
  guardAround,
  networkGuard,
  type NetworkGuard,
  type NetworkGuardOptions,
  type ResolveHost,
} from './http/network-guard.ts'
export { guardedRequest, type GuardedResponse } from './http/guarded-request.ts'
export { guardedFetch, type GuardedFetch, type GuardedFetchOptions } from './http/guarded-fetch.ts'
export { HttpConnections } from './http/connections.ts'
export { NetworkError, toNetworkError } from './http/network-error.ts'
export { findHeaderProblems } from './http/header-rules.ts'
export type { RequestSettings } from './http/options.ts'
export type { Hop } from './http/redirect.ts'
export { decodePart, separateLogin } from './http/url-login.ts'
export { readLimitedBody, watchBody } from './http/body.ts'
export { decodeBody } from './http/decode-body.ts'
export { MessageSize } from './http/message-size.ts'
export { readRetryAfter } from './http/retry-after.ts'
export {
  LinkClosedError,
  type SocketDialect,
  SocketLink,
  type SocketLinkSettings,
} from './ws/socket-link.ts'
export { quietClock, quietSystemClock } from './quiet-clock.ts'
export {
  findProcessProblems,
  PROCESS_OPTION_NAMES,
  type ProcessOptions,
  type ResolvedProcessOptions,
  resolveProcessOptions,
} from './process/options.ts'
export {
  DRAIN_MS,
  type ProcessExit,
  type ProcessStart,
  type RunningProcess,
  startProcess,
} from './process/running-process.ts'
