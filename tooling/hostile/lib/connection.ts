/** One connection of a hostile caller, which uses it for one request after the other. */
import { Agent, request } from 'node:http'

/** A request of a hostile caller. */
export interface HostileRequest {
  readonly method?: 'GET' | 'POST'
  readonly path: string
  readonly body?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** Answer to a hostile request. */
export interface HostileAnswer {
  readonly status: number
  readonly retryAfter: string | undefined
  /** Start of the body. */
  readonly text: string
}

/** Length of the retained start of an answer, in characters. */
const MAX_TEXT = 2_000

/** A connection that is kept alive. */
export class HostileConnection implements Disposable {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 })
  readonly #url: string
  readonly #headers: Readonly<Record<string, string>>

  constructor(url: string, key: string) {
    this.#url = url
    this.#headers = { authorization: `Bearer ${key}`, 'a2a-version': '1.0' }
  }

  /** Sends a request and reads its whole answer. Rejects when the connection breaks. */
  send({ method = 'GET', path, body, headers }: HostileRequest): Promise<HostileAnswer> {
    const bodyHeaders =
      body === undefined
        ? {}
        : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
    return new Promise((resolve, reject) => {
      const sent = request(new URL(path, this.#url), {
        agent: this.#agent,
        method,
        headers: { ...this.#headers, ...headers, ...bodyHeaders },
      })
      sent.on('error', reject)
      sent.on('response', (response) => {
        let text = ''
        response.setEncoding('utf8')
        response.on('data', (data: string) => {
          if (text.length < MAX_TEXT) text += data.slice(0, MAX_TEXT)
        })
        response.on('error', reject)
        response.on('end', () => {
          const { statusCode: status = 0, headers: received } = response
          resolve({ status, retryAfter: received['retry-after'], text })
        })
      })
      sent.end(body)
    })
  }

  [Symbol.dispose](): void {
    this.#agent.destroy()
  }
}
