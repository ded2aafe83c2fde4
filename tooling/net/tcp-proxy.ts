/** A TCP proxy between a client and a server on this machine that hangs or breaks on demand. */
import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

/** Forwards bytes both ways until it is paused or cut. */
export interface TcpProxy extends AsyncDisposable {
  /** The target URL with the address of this proxy. */
  readonly url: string
  /** Number of open connections. */
  readonly connections: number
  /** Leaves connections open but forwards nothing, like a network partition. */
  pause(): void
  /** Forwards held bytes and all that follow. */
  resume(): void
  /** Closes every connection, as a restarting proxy does; with `stay`, also new ones until `restore`. */
  cut(how?: { readonly stay: boolean }): void
  /** Accepts new connections again. */
  restore(): void
  /** Connects new connections to the server of that URL. */
  redirect(url: string): void
}

/** Starts a proxy to the server of `url`. */
export async function tcpProxy(url: string): Promise<TcpProxy> {
  const { port: ownPort } = new URL(url)
  let target = new URL(url)
  const ends = new Set<Socket>()
  const inners = new Set<Socket>()
  let isPaused = false
  let isDown = false
  const server = createServer((inner) => {
    if (isDown) {
      inner.destroy()
      return
    }
    inners.add(inner)
    inner.on('close', () => inners.delete(inner))
    join(inner, connect(Number(target.port), target.hostname))
  })
  const join = (inner: Socket, outer: Socket): void => {
    for (const [from, to] of [
      [inner, outer],
      [outer, inner],
    ] as const) {
      ends.add(from)
      // Otherwise the end of a long reply waits 40 ms for the acknowledgment of what came before.
      from.setNoDelay(true)
      from.on('data', (data) => to.write(data))
      from.on('error', () => to.destroy())
      from.on('close', () => {
        ends.delete(from)
        to.destroy()
      })
      if (isPaused) from.pause()
    }
  }
  const cut = ({ stay } = { stay: false }): void => {
    isDown = stay
    for (const end of ends) end.destroy()
  }
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  // NOTE: a listening server has an address of this shape.
  const { port } = server.address() as AddressInfo
  return {
    url: url.replace(`:${ownPort}`, `:${port}`),
    get connections() {
      return inners.size
    },
    pause() {
      isPaused = true
      for (const end of ends) end.pause()
    },
    resume() {
      isPaused = false
      for (const end of ends) end.resume()
    },
    cut,
    restore() {
      isDown = false
    },
    redirect(to) {
      target = new URL(to)
    },
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close')
      server.close()
      cut()
      await closed
    },
  }
}
