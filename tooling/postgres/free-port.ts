/** A port of 127.0.0.1 that nobody listens on, for a server that is about to be started. */
import { createServer, type AddressInfo } from 'node:net'

/** Finds one. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      // NOTE: a server that listens on a port has an address of this shape.
      const { port } = server.address() as AddressInfo
      server.close(() => {
        resolve(port)
      })
    })
  })
}
