/**
 * A server whose handlers write the bytes of each answer, so that they can also break the protocol: a handler decides
 * which bytes it sends and when it cuts the connection.
 */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'

import { onBody } from '../../../tooling/test-kit/on-body.ts'

import type { AddressInfo } from 'node:net'

/** Answers a request. */
export type Handler = (exchange: Exchange, index: number) => void | Promise<void>

/** One request and the ways to answer it. */
export class Exchange {
  readonly method: string
  /** Path with its query. */
  readonly url: string
  readonly query: URLSearchParams
  readonly headers: IncomingMessage['headers']
  readonly body: string
  /** Resolves when the connection is closed or the answer complete. */
  readonly closed: Promise<unknown>
  readonly #response: ServerResponse

  constructor(request: IncomingMessage, response: ServerResponse, body: string) {
    this.method = request.method ?? ''
    this.url = request.url ?? ''
    this.query = new URL(this.url, 'http://server').searchParams
    this.headers = request.headers
    this.body = body
    this.closed = once(response, 'close')
    this.#response = response
  }

  /** The id after which the client continues. */
  get lastEventId(): string | undefined {
    return this.headers['last-event-id']?.toString()
  }

  /** Sends a complete answer. */
  answer(status: number, body: string, headers: Readonly<Record<string, string>> = {}): void {
    this.#response.writeHead(status, headers).end(body)
  }

  /** Sends a complete answer with JSON. */
  json(status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): void {
    this.answer(status, JSON.stringify(body), { 'content-type': 'application/json', ...headers })
  }

  /** Begins an event stream. */
  open(headers: Readonly<Record<string, string>> = {}): this {
    const type = { 'content-type': 'text/event-stream; charset=utf-8' }
    this.#response.writeHead(200, { ...type, ...headers })
    this.#response.flushHeaders()
    return this
  }

  /** Sends bytes, and resolves when they have left this process. */
  async write(bytes: string | Uint8Array): Promise<void> {
    await new Promise((resolve) => {
      this.#response.write(bytes, resolve)
    })
  }

  /** Ends the answer normally. */
  end(): void {
    this.#response.end()
  }

  /** Cuts the connection. */
  drop(): void {
    this.#response.socket?.destroy()
  }
}

/** A server on the loopback address. */
export interface WireServer extends AsyncDisposable {
  readonly url: string
  readonly port: number
  /** Every request so far. */
  readonly exchanges: readonly Exchange[]
  /** Resolves with request number `index` as soon as it has arrived. */
  exchange(index: number): Promise<Exchange>
}

/** Serves `handler` on `port`, or on a free one. */
export async function wireServer(handler: Handler, port = 0): Promise<WireServer> {
  const exchanges: Exchange[] = []
  const watchers = new Set<() => void>()
  const server = createServer((request, response) => {
    onBody(request, (body) => {
      const exchange = new Exchange(request, response, body)
      exchanges.push(exchange)
      for (const look of watchers) look()
      return handler(exchange, exchanges.length - 1)
    })
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  // A server that listens on TCP has an address of this form.
  const { port: chosen } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${chosen}`,
    port: chosen,
    exchanges,
    exchange: (index) =>
      new Promise((resolve) => {
        const look = (): void => {
          const found = exchanges[index]
          if (found === undefined) return
          watchers.delete(look)
          resolve(found)
        }
        watchers.add(look)
        look()
      }),
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}
