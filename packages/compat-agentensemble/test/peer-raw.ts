/** A scripted WebSocket server for tests of misbehaving peers. */
import { createServer, type IncomingMessage } from 'node:http'

import { WebSocketServer, type WebSocket } from 'ws'

import type { Duplex } from 'node:stream'

/** A message as received. */
export interface RawMessage {
  readonly type: string
  readonly requestId?: string
  readonly [field: string]: unknown
}

/** Handles a new connection; `index` counts from 0. */
export type RawBehavior = (connection: RawConnection, index: number) => void

/** A connection of the server. */
export interface RawConnection {
  readonly socket: WebSocket
  readonly request: IncomingMessage
  /** Adds a listener for messages of a type. */
  on(type: string, listener: (message: RawMessage) => void): void
  /** Sends a message as JSON, or a text unchanged. */
  send(message: object | string): void
}

/** A running server with the messages that it has received. */
export interface RawServer extends AsyncDisposable {
  readonly url: string
  readonly received: RawMessage[]
  readonly connections: RawConnection[]
  /** Resolves with the `count`-th message of a type when it has arrived. */
  got(type: string, count?: number): Promise<RawMessage>
  /** Resolves with the close code when the connection at `index` is closed. */
  closed(index: number): Promise<number>
}

/** Starts a server. `refuse` returns true when it has answered a handshake itself. */
export async function rawServer(
  behave: RawBehavior,
  refuse?: (socket: Duplex, index: number) => boolean,
): Promise<RawServer> {
  const http = createServer()
  const sockets = new WebSocketServer({ noServer: true })
  const received: RawMessage[] = []
  const connections: RawConnection[] = []
  const closings: Promise<number>[] = []
  const watchers = new Set<() => void>()
  const notifyWatchers = (): void => {
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
        notifyWatchers()
      })
      connections.push(connection)
      behave(connection, connections.length - 1)
      notifyWatchers()
    })
  })
  await new Promise<void>((resolve) => {
    http.listen(0, '127.0.0.1', resolve)
  })
  const address = http.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  const when = <T>(find: () => T | undefined): Promise<T> =>
    new Promise((resolve) => {
      const watch = (): void => {
        const found = find()
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
