/** A real server on this machine for the tests of what reaches the network. */
import { createServer, type RequestListener } from 'node:http'
import { onTestFinished } from 'vitest'

import type { AddressInfo, Socket } from 'node:net'

/** A server that ends with its test. */
export interface LocalServer {
  /** Such as `http://127.0.0.1:40123`. */
  readonly origin: string
  readonly port: number
  /** `METHOD path` of every request so far. */
  readonly requests: readonly string[]
  /** Connections so far, those that sent nothing included. */
  readonly connections: number
  /** Resolves when no connection is open. */
  allClosed(): Promise<void>
}

/** Starts a server on 127.0.0.1, or on another address of the loopback block. */
export async function localServer(
  listener: RequestListener,
  host = '127.0.0.1',
): Promise<LocalServer> {
  const requests: string[] = []
  const open = new Set<Socket>()
  const waiting = new Set<() => void>()
  let connections = 0
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`)
    listener(request, response)
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
  // NOTE: a server that listens on a port has an address of this kind.
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
