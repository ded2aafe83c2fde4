/** Finds a free port of 127.0.0.1 for a server that is about to start. */
import { createServer, type AddressInfo } from 'node:net'

/** Returns a free port. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      // NOTE: a listening server has an address of this shape.
      const { port } = server.address() as AddressInfo
      server.close(() => {
        resolve(port)
      })
    })
  })
}
