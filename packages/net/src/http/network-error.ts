/** Failures of requests, with messages that contain no secrets. */
import { TuttiError } from '@tutti/core'
import { COMPLETE_MESSAGE, errorMessage } from '@tutti/core/internal'

/**
 * `unreachable`: no connection was made. `lost`: the connection ended before the response was complete.
 * `invalid`: the response cannot be read, or its redirects cannot be followed.
 */
export type NetworkErrorKind = 'unreachable' | 'lost' | 'invalid'

/** A request without a complete response. The message is only the reason, without the URL. */
export class NetworkError extends Error {
  override readonly name = 'NetworkError'
  readonly kind: NetworkErrorKind

  constructor(kind: NetworkErrorKind, reason: string, cause?: unknown) {
    super(reason, cause === undefined ? {} : { cause })
    this.kind = kind
  }

  /** The message has what the cause says. */
  get [COMPLETE_MESSAGE](): true {
    return true
  }

  /** Whether the same request may succeed later. */
  get retryable(): boolean {
    return this.kind !== 'invalid'
  }
}

const MEANINGS: Readonly<Record<string, string>> = {
  ENOTFOUND: 'the host was not found',
  EAI_AGAIN: 'the host name could not be resolved',
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was closed',
  EPIPE: 'the connection was closed',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'the network cannot be reached',
  ETIMEDOUT: 'the connection timed out',
  CERT_HAS_EXPIRED: 'the certificate of the server has expired',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'the certificate of the server is self-signed',
  Z_BUF_ERROR: 'the compressed response is cut off',
  HPE_HEADER_OVERFLOW: 'the response headers are too large',
}

/** Codes of Node's HTTP parser, and of node:zlib for a body that is not compressed as declared. */
const INVALID = /^(?:HPE_|Z_|ERR_BROTLI|ERR__ERROR_FORMAT)/

/**
 * Converts an error of Node to a {@link NetworkError}. Refusals of the guard are returned unchanged.
 *
 * @param isConnected - whether the connection was open, so that the server may have read the request
 */
export function toNetworkError(error: unknown, isConnected: boolean): Error {
  if (error instanceof NetworkError || TuttiError.isInstance(error)) return error
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  const reason = MEANINGS[code] ?? explainParserCode(code) ?? errorMessage(error)
  const isInvalid = INVALID.test(code) || error instanceof RangeError
  const kind = isInvalid ? 'invalid' : isConnected ? 'lost' : 'unreachable'
  return new NetworkError(kind, reason, error)
}

function explainParserCode(code: string): string | undefined {
  return code.startsWith('HPE_') ? 'the response is not HTTP' : undefined
}
