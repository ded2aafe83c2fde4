/** A connection that hangs: between a client and a server on this machine, for tests. */
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

/** Passes bytes on both ways until it is told to hold them back. */
export interface TcpProxy extends AsyncDisposable {
  /** The URL that was given, by way of this proxy. */
  readonly url: string
  /** Keeps connections open and passes nothing on, as a network does that lost its way. */
  pause(): void
  /** Passes on what was held back, and all that follows. */
  resume(): void
}

/** A proxy to the server of `url`. */
export async function tcpProxy(url: string): Promise<TcpProxy> {
  const target = new URL(url)
  const sockets = new Set<Socket>()
  let isPaused = false
  const server = createServer((inner) => {
    const outer = connect(Number(target.port), target.hostname)
    for (const [from, to] of [
      [inner, outer],
      [outer, inner],
    ] as const) {
      sockets.add(from)
      from.on('data', (data) => to.write(data))
      from.on('error', () => to.destroy())
      from.on('close', () => {
        sockets.delete(from)
        to.destroy()
      })
      if (isPaused) from.pause()
    }
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  // NOTE: a server that listens on a port has an address of this shape.
  target.port = String((server.address() as AddressInfo).port)
  const proxied = target.href
  target.port = new URL(url).port
  return {
    url: proxied,
    pause() {
      isPaused = true
      for (const socket of sockets) socket.pause()
    },
    resume() {
      isPaused = false
      for (const socket of sockets) socket.resume()
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => {
        server.close(resolve)
      })
    },
  }
}
