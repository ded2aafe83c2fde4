/** An external HTTP service, on this machine: it returns reviews, and records processes that report their start. */
import { once } from 'node:events'
import { createServer } from 'node:http'

import type { AddressInfo } from 'node:net'

const REVIEWS = ['I love it!', 'It leaks.', 'Great tea, great color']

/** The running service. Disposing it stops it. */
export interface Service extends AsyncDisposable {
  readonly url: string
  /** Process ids that the first program reports when it has started. */
  readonly started: Promise<readonly number[]>
}

/** Starts the service on a free port. */
export async function startService(): Promise<Service> {
  const started = Promise.withResolvers<readonly number[]>()
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://service')
    if (pathname === '/started') started.resolve(searchParams.getAll('pid').map(Number))
    const [, product] = /^\/reviews\/(.+)$/.exec(pathname) ?? []
    response.setHeader('content-type', 'application/json')
    response.end(
      JSON.stringify(
        product === undefined ? { about: 'Since 1901' } : { product, reviews: REVIEWS },
      ),
    )
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  // NOTE: a server that listens on a host has an address with a port.
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    started: started.promise,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
