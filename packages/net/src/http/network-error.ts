/** Names the failures of requests, in text without secrets. */
import { errorMessage, TuttiError } from '@tutti/core'

/**
 * `unreachable`: no connection was made. `lost`: the connection ended before the answer did.
 * `invalid`: the answer cannot be read, or leads nowhere.
 */
export type NetworkErrorKind = 'unreachable' | 'lost' | 'invalid'

/** A request without a complete answer. The message is the reason alone: it names no URL. */
export class NetworkError extends Error {
  override readonly name = 'NetworkError'
  readonly kind: NetworkErrorKind

  constructor(kind: NetworkErrorKind, reason: string, cause?: unknown) {
    super(reason, cause === undefined ? {} : { cause })
    this.kind = kind
  }

  /** Whether the same request may succeed later. */
  get retryable(): boolean {
    return this.kind !== 'invalid'
  }
}

const MEANINGS: Readonly<Record<string, string>> = {
  ENOTFOUND: 'the host was not found',
  EAI_AGAIN: 'the host could not be looked up',
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was closed',
  EPIPE: 'the connection was closed',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'the network cannot be reached',
  ETIMEDOUT: 'the connection timed out',
  CERT_HAS_EXPIRED: 'the certificate of the server has expired',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'the certificate of the server is self-signed',
  HPE_HEADER_OVERFLOW: 'its headers are too large',
}

/** Codes of the HTTP parser of Node, and of node:zlib for a body that is not compressed as declared. */
const INVALID = /^(?:HPE_|Z_|ERR_BROTLI|ERR__ERROR_FORMAT)/

/**
 * Returns the failure that an error of Node stands for. Refusals of the guard are returned as they are.
 *
 * @param isConnected - whether there was a connection, so that the server may have read the request
 */
export function toNetworkError(error: unknown, isConnected: boolean): Error {
  if (error instanceof NetworkError || TuttiError.isInstance(error)) return error
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  const reason = MEANINGS[code] ?? parserMeaning(code) ?? errorMessage(error)
  const isInvalid = INVALID.test(code) || error instanceof RangeError
  const kind = isInvalid ? 'invalid' : isConnected ? 'lost' : 'unreachable'
  return new NetworkError(kind, reason, error)
}

function parserMeaning(code: string): string | undefined {
  return code.startsWith('HPE_') ? 'the answer is not HTTP' : undefined
}
