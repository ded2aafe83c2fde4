/** A way to a database that can freeze: connections stay open, and nothing passes any more. */
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

/** A proxy in front of a database. */
export interface FrozenProxy extends AsyncDisposable {
  /** The address of the database, by way of the proxy. */
  readonly url: string
  freeze(): void
}

/** Opens a proxy in front of the database at `url`. */
export async function frozenProxy(url: string): Promise<FrozenProxy> {
  const target = new URL(url)
  const sockets = new Set<Socket>()
  let isFrozen = false
  const server = createServer((client) => {
    sockets.add(client)
    client.on('error', () => undefined)
    if (isFrozen) return
    const database = connect(Number(target.port), target.hostname)
    sockets.add(database)
    database.on('error', () => undefined)
    client.pipe(database).pipe(client)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  // NOTE: a server that listens on a port has an address of this shape.
  const { port } = server.address() as AddressInfo
  const own = new URL(url)
  own.host = `127.0.0.1:${port}`
  return {
    url: own.href,
    freeze() {
      isFrozen = true
      for (const socket of sockets) {
        socket.unpipe()
        socket.pause()
      }
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
