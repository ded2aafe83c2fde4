/** Hostile requests and readers over real sockets. */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

import { WebSocket } from 'ws'

/** Load on a server, until it is disposed. */
export class HostileLoad implements Disposable {
  readonly #url: URL
  readonly #sockets: (Socket | WebSocket)[] = []

  constructor(url: string) {
    this.#url = new URL(url)
  }

  /** Sends a request and never reads the response. */
  stalled(path: string): void {
    const socket = connect(Number(this.#url.port), this.#url.hostname)
    socket.on('error', () => undefined).pause()
    socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`)
    this.#sockets.push(socket)
  }

  /** Opens a WebSocket that never reads `hello`. */
  async stalledSocket(): Promise<void> {
    const socket = new WebSocket(`${this.#url.href.replace('http', 'ws')}ws`)
    socket.on('error', () => undefined)
    this.#sockets.push(socket)
    await once(socket, 'open').catch(() => undefined)
    if (socket.readyState === socket.OPEN) socket.pause()
  }

  /** Sends messages over one WebSocket as fast as possible, and only counts the responses. */
  async flood(messages: readonly string[]): Promise<void> {
    const socket = new WebSocket(`${this.#url.href.replace('http', 'ws')}ws`)
    socket.on('error', () => undefined)
    this.#sockets.push(socket)
    await once(socket, 'open')
    for (const message of messages) socket.send(message)
  }

  /** Posts a body. Returns the size of the response, or 0 when the connection broke. */
  async post(path: string, body: string): Promise<number> {
    const headers = { 'content-type': 'application/json', 'a2a-version': '1.0' }
    try {
      const answer = await fetch(new URL(path, this.#url), { method: 'POST', headers, body })
      return (await answer.arrayBuffer()).byteLength
    } catch {
      return 0
    }
  }

  [Symbol.dispose](): void {
    for (const socket of this.#sockets) {
      if (socket instanceof WebSocket) socket.terminate()
      else socket.destroy()
    }
  }
}
