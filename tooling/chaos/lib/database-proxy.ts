/** A proxy between the system and its database that loses replies. */
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

/** Forwards bytes both ways. */
export interface DatabaseProxy extends AsyncDisposable {
  /** The database URL with the address of this proxy. */
  readonly url: string
  /**
   * For a time forwards requests to the database, but drops its replies to commits; then breaks all
   * connections. The system does not know which transactions were committed meanwhile.
   */
  loseAnswers(forMs: number): Promise<void>
}

interface Connection {
  readonly inner: Socket
  readonly outer: Socket
  /** Whether replies are dropped from its next commit on. */
  losesAnswers: boolean
  isDeaf: boolean
}

/** Starts a proxy to the database of `url` on a free port of 127.0.0.1. */
export async function startDatabaseProxy(url: string): Promise<DatabaseProxy> {
  const target = new URL(url)
  const connections = new Set<Connection>()
  const drop = (connection: Connection): void => {
    connections.delete(connection)
    connection.inner.destroy()
    connection.outer.destroy()
  }
  const server = createServer((inner) => {
    const outer = connect(Number(target.port), target.hostname)
    const connection: Connection = { inner, outer, losesAnswers: false, isDeaf: false }
    connections.add(connection)
    inner.on('data', (data) => {
      connection.isDeaf ||= connection.losesAnswers && data.includes('COMMIT')
      outer.write(data)
    })
    outer.on('data', (data) => {
      if (!connection.isDeaf) inner.write(data)
    })
    for (const socket of [inner, outer]) {
      socket.setNoDelay(true)
      socket.on('error', () => undefined)
      socket.on('close', () => {
        drop(connection)
      })
    }
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const proxied = new URL(url)
  // NOTE: a listening server has an address of this shape.
  proxied.port = String((server.address() as AddressInfo).port)
  return {
    url: proxied.href,
    async loseAnswers(forMs) {
      const hit = [...connections]
      for (const connection of hit) connection.losesAnswers = true
      await sleep(forMs)
      for (const connection of hit) drop(connection)
    },
    async [Symbol.asyncDispose]() {
      for (const connection of connections) drop(connection)
      await new Promise((resolve) => {
        server.close(resolve)
      })
    },
  }
}
