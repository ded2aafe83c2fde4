/** A WebSocket server that does what a test says: for peers that misbehave. */
import { createServer, type IncomingMessage } from 'node:http'

import { WebSocketServer, type WebSocket } from 'ws'

import type { Duplex } from 'node:stream'

/** A message as it came. */
export interface RawMessage {
  readonly type: string
  readonly requestId?: string
  readonly [field: string]: unknown
}

/** What the server does with the n-th connection, from 0. */
export type RawBehaviour = (connection: RawConnection, index: number) => void

/** One connection. */
export interface RawConnection {
  readonly socket: WebSocket
  readonly request: IncomingMessage
  /** Calls back with the messages of a type. */
  on(type: string, listener: (message: RawMessage) => void): void
  /** Sends a message, or a text as it is. */
  send(message: object | string): void
}

/** A server, and what it was sent. */
export interface RawServer extends AsyncDisposable {
  readonly url: string
  readonly received: RawMessage[]
  readonly connections: RawConnection[]
  /** Resolves when a message of a type was received, the `count`-th one. */
  got(type: string, count?: number): Promise<RawMessage>
  /** Resolves when the n-th connection is closed, from 0, with its code. */
  closed(index: number): Promise<number>
}

/** Starts a server; `refuse` answers a handshake itself. */
export async function rawServer(
  behave: RawBehaviour,
  refuse?: (socket: Duplex, index: number) => boolean,
): Promise<RawServer> {
  const http = createServer()
  const sockets = new WebSocketServer({ noServer: true })
  const received: RawMessage[] = []
  const connections: RawConnection[] = []
  const closings: Promise<number>[] = []
  const watchers = new Set<() => void>()
  const changed = (): void => {
    for (const watcher of watchers) watcher()
  }
  let handshakes = 0
  http.on('upgrade', (request, duplex, head) => {
    handshakes += 1
    if (refuse?.(duplex, handshakes - 1) === true) return
    sockets.handleUpgrade(request, duplex, head, (socket) => {
      const listeners: [string, (message: RawMessage) => void][] = []
      const connection: RawConnection = {
        socket,
        request,
        on: (type, listener) => listeners.push([type, listener]),
        send: (message) => {
          socket.send(typeof message === 'string' ? message : JSON.stringify(message))
        },
      }
      socket.on('error', () => undefined)
      closings.push(new Promise((resolve) => socket.on('close', (code) => resolve(code))))
      socket.on('message', (data: Buffer) => {
        const message: RawMessage = JSON.parse(data.toString())
        received.push(message)
        for (const [type, listener] of listeners) if (type === message.type) listener(message)
        changed()
      })
      connections.push(connection)
      behave(connection, connections.length - 1)
      changed()
    })
  })
  await new Promise<void>((resolve) => {
    http.listen(0, '127.0.0.1', resolve)
  })
  const address = http.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  const when = <T>(look: () => T | undefined): Promise<T> =>
    new Promise((resolve) => {
      const watch = (): void => {
        const found = look()
        if (found === undefined) return
        watchers.delete(watch)
        resolve(found)
      }
      watchers.add(watch)
      watch()
    })
  return {
    url: `ws://127.0.0.1:${port}`,
    received,
    connections,
    got: (type, count = 1) =>
      when(() => received.filter((message) => message.type === type)[count - 1]),
    closed: async (index) => when(() => closings[index]).then((closing) => closing),
    async [Symbol.asyncDispose]() {
      for (const { socket } of connections) socket.terminate()
      await new Promise((resolve) => {
        http.close(resolve)
        http.closeAllConnections()
      })
    },
  }
}
