/**
 * The connections to an agent. They are opened when the first request is made, kept for the next one, and
 * none keeps the process alive once no request is under way.
 *
 * C1 No silence is too long: whoever asks has a limit of its own.
 * C2 When a request is aborted, its connection ends at once, also one that is only being made.
 * C3 An answer is whole, or its body fails: a reset is no end, whatever the answer says of its length. undici
 *    takes a reset for the end when the answer has `connection: close`, which is why this is node:http.
 */
import http from 'node:http'
import https from 'node:https'

import { httpFailure } from './http-failure.ts'
import { toResponse } from './to-response.ts'

import type { NetworkGuard } from '@tutti/net'

/** One request to one place. */
export interface Exchange {
  readonly url: URL
  readonly method: string
  readonly headers: Headers
  readonly body: Uint8Array | undefined
  /** Aborts the request, and then the reading of its body. */
  readonly signal: AbortSignal | undefined
}

/**
 * How long a connection that nothing uses is kept, in milliseconds: less than servers keep theirs, of which
 * that of Node, with 5 s, has the shortest time that is common.
 */
const KEPT_MS = 4_000

/** A pool of connections that a guard watches over. */
export class AgentConnections {
  readonly #lookup: NetworkGuard['lookup']
  #http: http.Agent | undefined
  #https: https.Agent | undefined

  constructor(guard: NetworkGuard) {
    this.#lookup = guard.lookup
  }

  /**
   * Sends a request; resolves when the headers of the answer are there.
   *
   * @throws {AgentError} when there is none.
   */
  send(exchange: Exchange): Promise<Response> {
    const { url, method, headers, body, signal } = exchange
    const isSecure = url.protocol === 'https:'
    const length = body === undefined ? {} : { 'content-length': body.byteLength }
    const options = {
      method,
      headers: { ...Object.fromEntries(headers), ...length },
      agent: isSecure ? this.#secure() : this.#plain(),
      lookup: this.#lookup,
      ...(signal === undefined ? {} : { signal }),
    }
    const request = isSecure ? https.request(url, options) : http.request(url, options)
    const answer = answerTo(request, exchange)
    request.end(body)
    return answer
  }

  /** Ends all connections; requests that are under way fail. Later ones open new ones. */
  close(): void {
    this.#http?.destroy()
    this.#https?.destroy()
  }

  #plain(): http.Agent {
    this.#http ??= new http.Agent({ keepAlive: true, timeout: KEPT_MS })
    return this.#http
  }

  #secure(): https.Agent {
    this.#https ??= new https.Agent({ keepAlive: true, timeout: KEPT_MS })
    return this.#https
  }
}

function answerTo(request: http.ClientRequest, { url, signal }: Exchange): Promise<Response> {
  const connected = url.protocol === 'https:' ? 'secureConnect' : 'connect'
  let isConnected = false
  let message: http.IncomingMessage | undefined
  const asFailure = (problem: unknown): unknown => {
    if (signal?.aborted === true) return signal.reason
    const phase = isConnected ? 'exchange' : 'connect'
    return httpFailure(problem, { origin: url.origin, phase })
  }
  return new Promise((resolve, reject) => {
    request.on('socket', (socket) => {
      if (request.reusedSocket) isConnected = true
      else socket.once(connected, () => (isConnected = true))
    })
    request.on('response', (response) => {
      message = response
      try {
        resolve(toResponse(response, { url, asFailure }))
      } catch (problem) {
        response.destroy()
        reject(problem)
      }
    })
    request.on('error', (problem) => {
      // An answer that is whole already stays so: the rest of the request could not be sent.
      if (message?.complete === false) message.destroy(problem)
      reject(asFailure(problem))
    })
    // A server that switches to another protocol is left without an error.
    request.on('close', () => {
      reject(asFailure(new Error('it ended without an answer')))
    })
  })
}
