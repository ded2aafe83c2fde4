/** What several packages need of Node. To reach the network: `networkGuard`, `guardedRequest`. */

// To reach the network
export {
  networkGuard,
  type NetworkGuard,
  type NetworkGuardOptions,
  type ResolveHost,
} from './network-guard.ts'
export { guardedRequest, type GuardedResponse } from './guarded-request.ts'
export { CONNECTION_HEADERS, type GuardedRequestOptions } from './options.ts'
export { decodeBody } from './decode-body.ts'
export { ACCEPTED_CODINGS, decompress } from './decompress.ts'
export { MessageSize } from './message-size.ts'

// To extend
export {
  sendOverNode,
  type HttpSend,
  type HttpSendRequest,
  type HttpSendResponse,
} from './http-send.ts'
