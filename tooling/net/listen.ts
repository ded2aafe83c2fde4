/** Serves HTTP on a free port of 127.0.0.1. */
import { createServer, type RequestListener, type ServerOptions } from 'node:http'

import type { AddressInfo } from 'node:net'

/** A listening server; disposing closes it and its connections. */
export interface Listening extends AsyncDisposable {
  /** Such as `http://127.0.0.1:40123`. */
  readonly url: string
}

/** Starts a server. */
export async function listenLocally(
  answer: RequestListener,
  options: ServerOptions = {},
): Promise<Listening> {
  const server = createServer(options, answer)
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  // NOTE: a listening server has an address of this shape.
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
