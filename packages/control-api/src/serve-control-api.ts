/** Serves a control API on a port: HTTP, SSE and WebSocket together. */
import { getRequestListener, RequestError } from '@hono/node-server'
import { TuttiError } from '@tutti/core'
import { errorMessage, isLoopback } from '@tutti/core/internal'
import { badRequest, toResponse, reportError } from '@tutti/gateway/internal'

import { createApp } from './create-app.ts'
import { readDashboard, type Dashboard } from './dashboard/read-dashboard.ts'
import { createRequestGuard } from './auth/guard-request.ts'
import { createLimitedServer } from './http/limited-server.ts'
import { metricsRoute } from './routes/metrics.ts'
import { resolveControlApiOptions, type ControlApiOptions } from './options.ts'
import { loadSigner } from './secrets/signer.ts'
import { createSockets } from './sockets/attach-sockets.ts'
import { startWebhooks } from './webhooks/start-webhooks.ts'

import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Address to listen on. */
export interface ListenOptions {
  /** Host name or IP address. @default '127.0.0.1' */
  readonly host?: string
  /** Port; 0 selects any free port. @default 7329 */
  readonly port?: number
}

/** A running control API. */
export interface ControlApiServer {
  /** Base address, such as `http://127.0.0.1:7329`. */
  readonly url: string
  /** Resolves when all audit entries recorded so far are stored or logged. */
  flush(): Promise<void>
  /** Stops accepting requests and ends every connection. Runs are not affected. */
  close(): Promise<void>
}

/** Port that the command line and the dashboards of other servers use by default, too. */
const DEFAULT_PORT = 7329

/**
 * Serves a control API until it is closed.
 *
 * @throws {RangeError} naming every invalid option.
 * @throws {TuttiError} CONFIG_INVALID when the dashboard, the workspace or a webhook is invalid, or when the server
 * cannot listen on the address; STORE_UNAVAILABLE when the store cannot be reached.
 */
export async function serveControlApi(
  options: ControlApiOptions,
  { host = '127.0.0.1', port = DEFAULT_PORT }: ListenOptions = {},
): Promise<ControlApiServer> {
  const resolved = resolveControlApiOptions(options)
  const { trail, surface } = resolved
  const dashboard = await loadDashboard(resolved)
  const signer = await loadSigner(resolved)
  const stopWebhooks = startWebhooks(resolved)
  const guard = createRequestGuard({ ...resolved, signer, isLocal: isLoopback(host) })
  const sockets = createSockets(resolved, guard)
  let listening = 0
  const info = { clients: () => sockets.count, port: () => listening }
  const { route: metrics, stop: stopMeasuring } = metricsRoute(resolved)
  const app = createApp(resolved, { info, guard, signer, metrics, dashboard })
  const respond = getRequestListener(app.fetch, {
    // For requests without a Host header, which the guard refuses.
    hostname: 'localhost',
    errorHandler: (error) => toResponse(reportError(toAddressError(error), resolved)),
  })
  const server = createLimitedServer(resolved, {
    guard,
    answer: (request, response) => {
      void respond(request, response)
    },
  })
  try {
    listening = await listen(server, host, port)
  } catch (error) {
    stopMeasuring()
    throw error
  }
  // Without sockets, a handshake is an ordinary request and gets 404.
  if (surface === 'all') sockets.attach(server)
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${listening}`,
    flush: () => trail.flush(),
    async close() {
      await stopWebhooks()
      stopMeasuring()
      sockets.close()
      await new Promise<void>((resolve) => {
        server.close(() => {
          resolve()
        })
        server.closeAllConnections()
      })
      await trail.close()
    },
  }
}

/** Reads the dashboard, unless none is configured or the process only executes runs. */
function loadDashboard({
  dashboard,
  surface,
}: Pick<ControlApiOptions, 'dashboard' | 'surface'>): Promise<Dashboard> | undefined {
  return dashboard === undefined || surface !== 'all' ? undefined : readDashboard(dashboard)
}

/** Converts the error for a request whose URL cannot be parsed to BAD_REQUEST; returns other errors as they are. */
function toAddressError(error: unknown): unknown {
  if (!(error instanceof RequestError)) return error
  return badRequest('request target', [
    { path: '', message: `cannot be parsed (${error.message})` },
  ])
}

function listen(server: Server, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const message = `Cannot listen on ${host}:${port}: ${errorMessage(error)}${listenAdvice(error)}`
      reject(new TuttiError('CONFIG_INVALID', message, { cause: error }))
    })
    server.listen(port, host, () => {
      const { port: chosen } = server.address() as AddressInfo
      resolve(chosen)
    })
  })
}

function listenAdvice({ code }: NodeJS.ErrnoException): string {
  if (code === 'EACCES') return '. Ports below 1024 require root'
  if (code !== 'EADDRINUSE') return ''
  return '. Stop the process that uses the port, or choose another one (--port or PORT of tutti)'
}
