/** The port to whatever makes HTTP requests, and the one of Node. */
import http from 'node:http'
import https from 'node:https'

import type { LookupFunction } from 'node:net'
import type { Readable } from 'node:stream'

/** One request to one place: redirects are not its business. */
export interface HttpSendRequest {
  readonly url: URL
  readonly method: string
  /** With names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly body?: Uint8Array
  /** Aborts the request, and then the reading of its body; what is made for it ends then. */
  readonly signal: AbortSignal
  /** What the socket must look names up with. */
  readonly lookup: LookupFunction
  /** To be called when the connection is there. */
  readonly onConnect: () => void
}

/** An answer whose body has yet to come. */
export interface HttpSendResponse {
  readonly status: number
  readonly headers: Headers
  /** The bytes as they are sent: compressed, if they are. To destroy it is to close the connection. */
  readonly body: Readable
}

/** Sends a request; resolves when the headers of the answer are there. */
export type HttpSend = (request: HttpSendRequest) => Promise<HttpSendResponse>

/**
 * Sends over node:http and node:https, on a connection of its own that ends with the answer. It uses no
 * proxy, whatever the environment says: a proxy would look the names up anew.
 */
export async function sendOverNode(request: HttpSendRequest): Promise<HttpSendResponse> {
  const response = await answerTo(request)
  const { statusCode = 0, rawHeaders } = response
  return { status: statusCode, headers: headersOf(rawHeaders), body: response }
}

function answerTo({
  url,
  body,
  onConnect,
  ...options
}: HttpSendRequest): Promise<http.IncomingMessage> {
  const isSecure = url.protocol === 'https:'
  const { request } = isSecure ? https : http
  return new Promise((resolve, reject) => {
    // NOTE: no agent means one for this request alone, without keep-alive and without a proxy.
    request(url, { ...options, agent: false })
      .on('response', resolve)
      .on('error', reject)
      // A server that switches to another protocol is left without an error.
      .on('close', () => {
        reject(new Error('the connection was closed without an answer'))
      })
      .on('socket', (socket) => {
        socket.once(isSecure ? 'secureConnect' : 'connect', onConnect)
      })
      .end(body)
  })
}

function headersOf(raw: readonly string[]): Headers {
  const headers = new Headers()
  for (let i = 0; i + 1 < raw.length; i += 2) headers.append(raw[i] ?? '', raw[i + 1] ?? '')
  return headers
}
