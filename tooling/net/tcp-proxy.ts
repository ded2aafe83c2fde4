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
  /**
   * Until a promise resolves, forwards requests but drops the replies from the next request on that contains the text;
   * then breaks the connections. The client does not know which requests were carried out.
   */
  loseReplies(request: string, until: Promise<unknown>): Promise<void>
}

/** Whether the replies of a connection are dropped. */
interface ReplyLoss {
  /** Text of the request from which on they are. */
  request?: string
  isLost: boolean
}

/** Starts a proxy to the server of `url`. */
export async function tcpProxy(url: string): Promise<TcpProxy> {
  const { port: ownPort } = new URL(url)
  let target = new URL(url)
  const ends = new Set<Socket>()
  const inners = new Map<Socket, ReplyLoss>()
  let isPaused = false
  let isDown = false
  const server = createServer((inner) => {
    if (isDown) {
      inner.destroy()
      return
    }
    const loss: ReplyLoss = { isLost: false }
    inners.set(inner, loss)
    inner.on('close', () => inners.delete(inner))
    inner.on('data', (data) => {
      loss.isLost ||= loss.request !== undefined && data.includes(loss.request)
    })
    join(inner, connect(Number(target.port), target.hostname))
  })
  const join = (inner: Socket, outer: Socket): void => {
    for (const [from, to] of [
      [inner, outer],
      [outer, inner],
    ] as const) {
      ends.add(from)
      pipe(from, to, () => inners.get(to)?.isLost === true)
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
    async loseReplies(request, until) {
      const hit = [...inners]
      for (const [, loss] of hit) loss.request = request
      await until
      for (const [inner] of hit) inner.destroy()
    },
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close')
      server.close()
      cut()
      await closed
    },
  }
}

/** Forwards bytes in one direction, unless they are dropped. */
function pipe(from: Socket, to: Socket, isDropped: () => boolean): void {
  // Otherwise the end of a long reply waits 40 ms for the acknowledgment of what came before.
  from.setNoDelay(true)
  from.on('data', (data) => {
    if (!isDropped()) to.write(data)
  })
  from.on('error', () => to.destroy())
}
