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

// To use MCP servers
export type {
  CallToolResult as McpToolResult,
  Progress as McpProgress,
  Tool as McpTool,
} from '@modelcontextprotocol/client'
export { acceptForm, askReviewer } from './mcp/ask-reviewer.ts'
export {
  DEFAULT_MAX_MCP_MESSAGE_BYTES,
  DEFAULT_MCP_CONNECT_TIMEOUT_MS,
  McpConnection,
} from './mcp/mcp-connection.ts'
export { McpError, type McpErrorKind, type McpErrorOptions } from './mcp/mcp-error.ts'
export {
  resolveMcpServer,
  type McpClient,
  type McpEndpoint,
  type McpHeaders,
  type McpProgram,
  type McpServer,
  type ResolvedMcpServer,
} from './mcp/mcp-server.ts'
export type { McpForm, McpFormAnswer } from './mcp/open-calls.ts'
export type { McpOpenOptions } from './mcp/open-server.ts'
export { McpToolCall, type McpCallOptions } from './mcp/tool-call.ts'
export { contentText } from './mcp/tool-content.ts'
