/** Serves a control API on a port: HTTP, SSE and WebSocket together. */
import { createServer, type Server } from 'node:http'

import { getRequestListener } from '@hono/node-server'
import { errorMessage, TuttiError } from '@tutti/core'

import { createApp } from './create-app.ts'
import { resolveControlApiOptions, type ControlApiOptions } from './options.ts'
import { createSockets } from './sockets/attach-sockets.ts'

import type { AddressInfo } from 'node:net'

/** Where to listen. */
export interface ListenOptions {
  /** @default '127.0.0.1' */
  readonly host?: string
  /** 0 is any free port. @default 7329 */
  readonly port?: number
}

/** A control API that accepts requests. */
export interface ControlApiServer {
  /** Such as `http://127.0.0.1:7329`. */
  readonly url: string
  /** Accepts nothing more and ends every connection. Runs are not touched. */
  close(): Promise<void>
}

/** AgentEnsemble's port. */
const DEFAULT_PORT = 7329

/**
 * Serves until it is closed.
 *
 * @throws {TuttiError} CONFIG_INVALID when the address cannot be listened on.
 */
export async function serveControlApi(
  options: ControlApiOptions,
  { host = '127.0.0.1', port = DEFAULT_PORT }: ListenOptions = {},
): Promise<ControlApiServer> {
  const resolved = resolveControlApiOptions(options)
  const sockets = createSockets(resolved)
  let listening = 0
  const app = createApp(resolved, { clients: () => sockets.count, port: () => listening })
  const answer = getRequestListener(app.fetch)
  const server = createServer((request, response) => {
    void answer(request, response)
  })
  listening = await listen(server, host, port)
  // Without sockets a handshake is a request like others, and gets the answer that there is nothing.
  if (resolved.surface === 'all') sockets.attach(server)
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${listening}`,
    close() {
      sockets.close()
      return new Promise((resolve) => {
        server.close(() => {
          resolve()
        })
        server.closeAllConnections()
      })
    },
  }
}

function listen(server: Server, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', (error) => {
      const message = `Cannot listen on ${host}:${port}: ${errorMessage(error)}`
      reject(new TuttiError('CONFIG_INVALID', message, { cause: error }))
    })
    server.listen(port, host, () => {
      const { port: chosen } = server.address() as AddressInfo
      resolve(chosen)
    })
  })
}
