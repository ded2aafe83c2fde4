/** A real server on this machine for the tests of the web tools. */
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'

import { onTestFinished } from 'vitest'

import type { AddressInfo } from 'node:net'

/** A request, with its body read. */
export interface ServedRequest {
  readonly method: string
  readonly url: URL
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** A server that ends with its test. */
export interface LocalServer {
  /** Such as `http://127.0.0.1:40123`. */
  readonly origin: string
  /** The requests so far. */
  readonly requests: readonly ServedRequest[]
}

/** Starts a server on 127.0.0.1. */
export async function localServer(
  answer: (request: ServedRequest, response: ServerResponse) => void,
): Promise<LocalServer> {
  const requests: ServedRequest[] = []
  const server = createServer((incoming, response) => {
    const { method = '', url = '', headers } = incoming
    void text(incoming).then((body) => {
      const request = { method, url: new URL(url, 'http://local'), headers, body }
      requests.push(request)
      answer(request, response)
    })
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  onTestFinished(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => {
      server.close(resolve)
    })
  })
  // NOTE: a server that listens on a port has an address of this kind.
  const { port } = server.address() as AddressInfo
  return { origin: `http://127.0.0.1:${port}`, requests }
}
