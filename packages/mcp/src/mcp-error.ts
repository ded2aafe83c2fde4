/** Failures of MCP servers, with messages that contain no secrets. */
import { TuttiError } from '@tutti/core'
import { COMPLETE_MESSAGE, errorMessage } from '@tutti/core/internal'
import { readLimitedBody, readRetryAfter, type NetworkError } from '@tutti/net/internal'

import { isOfFailedAnswer, preview } from './incoming/failed-answer.ts'

/**
 * `configuration`: the server cannot be started or may not be used. `unreachable`: no connection was made.
 * `connection_lost`: it ended, or the time was over, before the response. `http_error`: an HTTP error status.
 * `rpc_error`: the server returned a JSON-RPC error. `input_required`: the server requires input that this client does
 * not support. `invalid_response`: any other invalid response.
 */
export type McpErrorKind =
  | 'configuration'
  | 'unreachable'
  | 'connection_lost'
  | 'http_error'
  | 'rpc_error'
  | 'input_required'
  | 'invalid_response'

/** Details of an {@link McpError}. */
export interface McpErrorOptions {
  readonly cause?: unknown
  /** @default true for `unreachable` and `connection_lost` */
  readonly retryable?: boolean
  readonly retryAfterMs?: number | undefined
}

/** The failure of an MCP server to respond. */
export class McpError extends Error {
  override readonly name = 'McpError'
  readonly kind: McpErrorKind
  /** Whether the same call may succeed later. */
  readonly retryable: boolean
  /** Delay that the server requires before a retry, in milliseconds. */
  readonly retryAfterMs: number | undefined

  constructor(kind: McpErrorKind, message: string, options: McpErrorOptions = {}) {
    const { cause, retryable, retryAfterMs } = options
    super(message, cause === undefined ? undefined : { cause })
    this.kind = kind
    this.retryable = retryable ?? (kind === 'unreachable' || kind === 'connection_lost')
    this.retryAfterMs = retryAfterMs
  }

  /** The message has what the cause says. */
  get [COMPLETE_MESSAGE](): true {
    return true
  }
}

/** The end of a server that is a child process. */
export interface ProcessFate {
  readonly reason: string
  /** False when the process could not be started. */
  readonly started: boolean
}

/** The origin of a failure: the server and the phase. */
export interface McpFailureOrigin {
  /** Name of the server in messages. */
  readonly name: string
  readonly phase: 'connect' | 'call'
  /** The end of its process; undefined while it runs. */
  readonly fate?: ProcessFate | undefined
}

/** Statuses after which a retry may succeed. */
const RETRYABLE: ReadonlySet<number> = new Set([408, 425, 429, 500, 502, 503, 504])

/** Maximum number of bytes of a body that a message quotes. */
const QUOTED_BYTES = 2_000

/** JSON-RPC code of a server that requires the user to open a web page first. */
const URL_ELICITATION_REQUIRED = -32_042

/** Codes of the SDK for lost connections. */
const LOST: ReadonlySet<unknown> = new Set(['CONNECTION_CLOSED', 'NOT_CONNECTED', 'SEND_FAILED'])

/** Converts an error of the SDK or of the layers below it to an {@link McpError}. A Tutti error is returned unchanged. */
export function toMcpError(error: unknown, origin: McpFailureOrigin): McpError | TuttiError {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof McpError || TuttiError.isInstance(cause)) return cause
  }
  const { fate } = origin
  const details = readDetails(error)
  const { code, status } = details
  // The end of the process explains a missing answer. An answer explains the end.
  if (fate !== undefined && !isAnswer(error, code)) return endedError(fate, origin, error)
  if (typeof status === 'number') return statusError(origin.name, { ...details, status }, error)
  if (typeof code === 'number') return rpcError(code, error, origin)
  const message = errorMessage(error)
  const isLost = LOST.has(code) || message === 'Not connected'
  if (isLost && origin.phase === 'call') return lostError(origin.name, message, error)
  const isTimeout = code === 'REQUEST_TIMEOUT'
  if (isTimeout && origin.phase === 'call') return silentError(origin.name, error)
  if (isLost || isTimeout) return unreachableError(origin.name, message, error)
  return invalidError(origin.name, message, error)
}

/** Codes of the SDK for answers that cannot be used. */
const UNUSABLE: ReadonlySet<unknown> = new Set(['INVALID_RESULT', 'UNSUPPORTED_RESULT_TYPE'])

/** Returns whether an error was caused by an answer of the server: its own error, or a result that cannot be used. */
function isAnswer(error: unknown, code: unknown): boolean {
  const isVersion = error instanceof Error && error.message.includes('protocol version')
  return typeof code === 'number' || UNUSABLE.has(code) || isVersion
}

/** Converts a failure of the network to an {@link McpError}. Other errors are returned unchanged. */
export function toMcpNetworkError(error: Error, name: string): Error {
  if (TuttiError.isInstance(error)) {
    return new McpError('configuration', error.message, { cause: error })
  }
  const kind = 'kind' in error ? (error as NetworkError).kind : undefined
  if (kind === 'unreachable') return unreachableError(name, error.message, error)
  if (kind === 'lost') return lostError(name, error.message, error)
  return kind === 'invalid' ? invalidError(name, error.message, error) : error
}

/** Creates the error for a response with an error status, which quotes the start of its body. */
export async function toStatusError(response: Response, name: string): Promise<McpError> {
  const { status, statusText, headers } = response
  const text = await readBodyStart(response)
  const retryAfterMs = readRetryAfter(headers.get('retry-after'))
  return statusError(name, { status, statusText, text, retryAfterMs })
}

async function readBodyStart({ body }: Response): Promise<string> {
  try {
    const { bytes, truncated } = await readLimitedBody(body, QUOTED_BYTES)
    const text = new TextDecoder().decode(bytes).trim()
    return truncated ? `${text}…` : text
  } catch {
    // The status is known; a body that cannot be read only shortens the message.
    return ''
  }
}

function statusError(
  name: string,
  { status, statusText, text, retryAfterMs }: HttpDetails & { readonly status: number },
  cause?: unknown,
): McpError {
  const shown = typeof statusText === 'string' && statusText !== '' ? ` ${statusText}` : ''
  const body = typeof text === 'string' ? text.trim().slice(0, QUOTED_BYTES + 1) : ''
  const quoted = body === '' ? '' : `: ${body}`
  return new McpError(
    'http_error',
    `MCP server ${name} returned error ${status}${shown}${quoted}`,
    {
      retryable: RETRYABLE.has(status),
      retryAfterMs,
      cause,
    },
  )
}

function endedError(
  { reason, started }: ProcessFate,
  origin: McpFailureOrigin,
  cause: unknown,
): McpError {
  const { name, phase } = origin
  if (phase === 'call') {
    return new McpError('connection_lost', `MCP server ${name} ended: ${reason}`, { cause })
  }
  const message = `Cannot connect to MCP server ${name}: ${reason}`
  return new McpError(started ? 'unreachable' : 'configuration', message, { cause })
}

function rpcError(code: number, cause: unknown, { name }: McpFailureOrigin): McpError {
  const data = cause instanceof Error && 'data' in cause ? cause.data : undefined
  if (isOfFailedAnswer(data)) return invalidError(name, errorMessage(cause), cause)
  const said = cause instanceof Error ? cause.message.trim() : ''
  const message = `${said === '' ? 'no message' : said}${formatData(data)}`
  if (code === URL_ELICITATION_REQUIRED) {
    const wanted = `MCP server ${name} requires a web page to be opened first: ${message}`
    return new McpError('input_required', wanted, { cause })
  }
  return new McpError('rpc_error', `MCP server ${name} returned error ${code}: ${message}`, {
    cause,
  })
}

/** Returns the data of an error in parentheses; empty when there is none. */
function formatData(data: unknown): string {
  return data === undefined || data === null ? '' : ` (${preview(data)})`
}

function unreachableError(name: string, reason: string, cause: unknown): McpError {
  return new McpError('unreachable', `Cannot connect to MCP server ${name}: ${reason}`, { cause })
}

function silentError(name: string, cause: unknown): McpError {
  const message = `MCP server ${name} did not answer in time`
  return new McpError('connection_lost', message, { cause })
}

function lostError(name: string, reason: string, cause: unknown): McpError {
  const message = `The connection to MCP server ${name} was lost: ${reason}`
  return new McpError('connection_lost', message, { cause })
}

function invalidError(name: string, reason: string, cause: unknown): McpError {
  const message = `MCP server ${name} sent an invalid response: ${reason}`
  return new McpError('invalid_response', message, { cause })
}

interface HttpDetails {
  readonly status?: unknown
  readonly statusText?: unknown
  readonly text?: unknown
  readonly retryAfterMs?: number | undefined
}

/** Returns the code of an error, and the HTTP status that the SDK stores in an error or in its data. */
function readDetails(error: unknown): HttpDetails & { readonly code?: unknown } {
  if (!(error instanceof Error)) return {}
  const { code, status, statusText, text, data } = error as Error &
    HttpDetails & { readonly code?: unknown; readonly data?: unknown }
  // NOTE: the fields are checked where they are used.
  const inside = (typeof data === 'object' && data !== null ? data : {}) as HttpDetails
  // Errors of the server have a numeric code, and their data may contain anything.
  const isOfSdk = typeof code !== 'number'
  const isHttp = isOfSdk && typeof (status ?? inside.status) === 'number'
  if (!isHttp) return { code }
  return {
    code,
    status: status ?? inside.status,
    statusText: statusText ?? inside.statusText,
    text: text ?? inside.text,
  }
}
