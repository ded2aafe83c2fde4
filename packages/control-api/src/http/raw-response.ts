/** Writes an answer to a socket where there is no HTTP response: a handshake, or bytes that are no request. */
import { STATUS_CODES } from 'node:http'
import { errorHeaders, type WireError } from '@tutti/gateway'

import type { Clock } from '@tutti/core'
import type { Duplex } from 'node:stream'

/**
 * Headers of every response. Responses are data, not pages: they load nothing, are not shown in frames, and are not
 * cached. The headers of a route that sends a page take precedence.
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

/** What goes with the error. */
export interface RawResponseOptions {
  readonly headers?: Readonly<Record<string, string>>
  readonly clock: Clock
}

/**
 * How long the other side may take to close: time to read the answer. Closing at once, while it still
 * sends, could take the answer away from it.
 */
const LINGER_MS = 1_000

/** Answers with an error and closes; a socket that can take nothing is only closed. */
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
