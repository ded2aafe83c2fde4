/** A real HTTP server on this machine, which is closed at the end of its test. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'

import { onTestFinished } from 'vitest'

import { onBody } from './on-body.ts'

import type { AddressInfo, Socket } from 'node:net'

/** A request that the server received. */
export interface ReceivedRequest {
  readonly method: string
  /** Path and query. */
  readonly url: string
  readonly headers: IncomingMessage['headers']
  readonly bytes: Buffer
  /** The bytes as UTF-8. */
  readonly body: string
}

/** A server that records its requests. */
export interface LocalServer {
  /** Such as `http://127.0.0.1:40123`. */
  readonly origin: string
  readonly port: number
  readonly requests: readonly ReceivedRequest[]
  /** Number of connections so far, including those without a request. */
  readonly connections: number
  /** Resolves when no connection is open. */
  allClosed(): Promise<void>
}

/** Answers a request whose body has been read. The returned value is ignored. */
export type Answer = (response: ServerResponse, request: ReceivedRequest) => unknown

/** Starts a server on a free port of 127.0.0.1, or of another loopback address. */
export async function localServer(answer: Answer, host = '127.0.0.1'): Promise<LocalServer> {
  const requests: ReceivedRequest[] = []
  const open = new Set<Socket>()
  const waiting = new Set<() => void>()
  let connections = 0
  const server = createServer((incoming, response) => {
    const { method = '', url = '', headers } = incoming
    onBody(incoming, (body, bytes) => {
      const request = { method, url, headers, bytes, body }
      requests.push(request)
      answer(response, request)
    })
  })
  server.on('connection', (socket) => {
    connections += 1
    open.add(socket)
    socket.on('error', () => undefined)
    socket.on('close', () => {
      open.delete(socket)
      if (open.size === 0) for (const resolve of waiting) resolve()
    })
  })
  await new Promise<void>((resolve) => {
    server.listen(0, host, resolve)
  })
  onTestFinished(async () => {
    for (const socket of open) socket.destroy()
    await new Promise((resolve) => {
      server.close(resolve)
    })
  })
  // NOTE: a listening server has an address of this shape.
  const { port } = server.address() as AddressInfo
  return {
    origin: `http://${host}:${port}`,
    port,
    requests,
    get connections() {
      return connections
    },
    allClosed: () =>
      new Promise((resolve) => {
        if (open.size === 0) resolve()
        else waiting.add(resolve)
      }),
  }
}
