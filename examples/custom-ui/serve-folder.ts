/** A web server for a few built files, as any host of static files would be. */
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { extname, join } from 'node:path'

import type { AddressInfo } from 'node:net'

const TYPES: Readonly<Record<string, string>> = { '.html': 'text/html', '.js': 'text/javascript' }

/** Files that are served, and the end of that. */
export interface ServedFolder {
  readonly port: number
  close(): Promise<void>
}

/** Serves the files of a folder on a free port of this machine; `/` is `index.html`. */
export async function serveFolder(folder: string): Promise<ServedFolder> {
  const server = createServer((request, response) => {
    // A URL that was parsed has no `..` in its path, so it leads nowhere else.
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
