/** A static file server for the built page. */
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { extname, join } from 'node:path'

import type { AddressInfo } from 'node:net'

const TYPES: Readonly<Record<string, string>> = { '.html': 'text/html', '.js': 'text/javascript' }

/** A running file server. */
export interface ServedFolder {
  readonly port: number
  close(): Promise<void>
}

/** Serves the files of a folder on a free port of this machine; `/` is `index.html`. */
export async function serveFolder(folder: string): Promise<ServedFolder> {
  const server = createServer((request, response) => {
    // A parsed URL has no `..` in its path, so it cannot leave the folder.
    const { pathname } = new URL(request.url ?? '/', 'http://page')
    const file = pathname === '/' ? '/index.html' : pathname
    response.setHeader('content-type', TYPES[extname(file)] ?? 'application/octet-stream')
    readFile(join(folder, file)).then(
      (content) => response.end(content),
      () => response.writeHead(404).end(),
    )
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  // NOTE: a server that listens on a host has an address with a port.
  const { port } = server.address() as AddressInfo
  return {
    port,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
