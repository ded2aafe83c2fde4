/** Guarded network access for tools and agents on Node. To send requests: `networkGuard`, `guardedRequest`. */

// To send requests
export {
  networkGuard,
  type NetworkGuard,
  type NetworkGuardOptions,
  type ResolveHost,
} from './http/network-guard.ts'
export { guardedRequest, type GuardedResponse } from './http/guarded-request.ts'
export { CONNECTION_HEADERS, type GuardedRequestOptions } from './http/options.ts'
export { decodeBody } from './http/decode-body.ts'
export { ACCEPTED_CODINGS, decompress } from './http/decompress.ts'
export { MessageSize } from './http/message-size.ts'

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

// To extend
export {
  sendOverNode,
  type HttpSend,
  type HttpSendRequest,
  type HttpSendResponse,
} from './http/http-send.ts'
