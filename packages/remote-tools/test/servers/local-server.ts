/** A real HTTP server on this machine, which ends with its test. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { onTestFinished } from 'vitest'

import type { AddressInfo, Socket } from 'node:net'

/** A request as the server got it. */
export interface ReceivedRequest {
  readonly method: string
  /** Path and query. */
  readonly url: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

/** A server that tells what it was asked. */
export interface LocalServer {
  /** Such as `http://127.0.0.1:40123`. */
  readonly origin: string
  readonly port: number
  readonly requests: readonly ReceivedRequest[]
  /** Connections so far. */
  readonly connections: number
  /** Resolves when no connection is open. */
  allClosed(): Promise<void>
}

/** Answers a request whose body has been read; what it returns does not matter. */
export type Answer = (response: ServerResponse, request: ReceivedRequest) => unknown

/** Starts a server on 127.0.0.1. */
export async function localServer(answer: Answer): Promise<LocalServer> {
  const requests: ReceivedRequest[] = []
  const open = new Set<Socket>()
  const waiting = new Set<() => void>()
  let connections = 0
  const server = createServer((request, response) => {
    void received(request).then((one) => {
      requests.push(one)
      answer(response, one)
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
    server.listen(0, '127.0.0.1', resolve)
  })
  onTestFinished(async () => {
    for (const socket of open) socket.destroy()
    await new Promise((resolve) => {
      server.close(resolve)
    })
  })
  // NOTE: a server that listens on a port has an address of this kind.
  const { port } = server.address() as AddressInfo
  return {
    origin: `http://127.0.0.1:${port}`,
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

async function received(request: IncomingMessage): Promise<ReceivedRequest> {
  const chunks: Uint8Array[] = []
  for await (const chunk of request) {
    // NOTE: no encoding is set on the request.
    chunks.push(chunk as Uint8Array)
  }
  const { method = '', url = '', headers } = request
  return { method, url, headers, body: Buffer.concat(chunks).toString() }
}
