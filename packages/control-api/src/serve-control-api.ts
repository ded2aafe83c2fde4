/** Serves a control API on a port: HTTP, SSE and WebSocket together. */
import { getRequestListener, RequestError } from '@hono/node-server'
import { errorMessage, isLoopback, TuttiError } from '@tutti/core'
import { badRequest, toResponse, reportError } from '@tutti/gateway'

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
  /** Resolves when the audit trail is kept of everything that was done so far. */
  flush(): Promise<void>
  /** Accepts nothing more and ends every connection. Runs are not touched. */
  close(): Promise<void>
}

/** AgentEnsemble's port. */
const DEFAULT_PORT = 7329

/**
 * Serves until it is closed.
 *
 * @throws {RangeError} naming every option that does not fit.
 * @throws {TuttiError} CONFIG_INVALID when the dashboard cannot be read or the address not be listened on;
 * STORE_UNAVAILABLE when the store cannot be reached.
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
    // For requests without a Host, which the guard refuses.
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
  // Without sockets a handshake is a request like others, and gets the answer that there is nothing.
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

/** The dashboard that is shown: a process that only executes runs shows none. */
function loadDashboard({
  dashboard,
  surface,
}: Pick<ControlApiOptions, 'dashboard' | 'surface'>): Promise<Dashboard> | undefined {
  return dashboard === undefined || surface !== 'all' ? undefined : readDashboard(dashboard)
}

/** A request of which no address can be made is a bad one; anything else that is thrown here is a fault. */
function toAddressError(error: unknown): unknown {
  if (!(error instanceof RequestError)) return error
  return badRequest('request target', [
    { path: '', message: `cannot be understood (${error.message})` },
  ])
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
