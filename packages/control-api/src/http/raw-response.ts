/** Writes a response to a bare socket, for refused handshakes and for bytes that are not an HTTP request. */
import { STATUS_CODES } from 'node:http'
import { errorHeaders, type WireError } from '@tutti/gateway/internal'

import type { Clock } from '@tutti/core'
import type { Duplex } from 'node:stream'

/**
 * Headers of every response. Responses are data, not pages: browsers must not load anything for them, frame them or
 * cache them. Routes that serve a page override these headers.
 *
 * @see https://cheatsheetseries.owasp.org/cheatsheets/REST_Security_Cheat_Sheet.html
 */
export const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cache-control': 'no-store',
}

export interface RawResponseOptions {
  readonly headers?: Readonly<Record<string, string>>
  readonly clock: Clock
}

/**
 * Time for the client to read the response and close, in milliseconds. Closing at once could discard the response while
 * the client still sends.
 */
const LINGER_MS = 1_000

/** Sends an error response and closes the socket. A socket that is not writable is only closed. */
export function endWithError(
  socket: Duplex,
  error: WireError,
  { headers = {}, clock }: RawResponseOptions,
): void {
  if (!socket.writable) {
    socket.destroy()
    return
  }
  const body = JSON.stringify(error.body)
  const all = {
    ...SECURITY_HEADERS,
    ...headers,
    ...errorHeaders(error),
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    connection: 'close',
  }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`)
  const reason = STATUS_CODES[error.status] ?? 'Refused'
  socket.on('error', () => undefined)
  socket.on(
    'close',
    clock.after(LINGER_MS, () => socket.destroy()),
  )
  socket.end([`HTTP/1.1 ${error.status} ${reason}`, ...lines, '', body].join('\r\n'))
  socket.resume()
}
