/** Serves capabilities, status and health of the server. */
import { ROUTES } from '@tutti/protocol'
import { assertShared, type HttpRoute, sharedCapabilities } from '@tutti/gateway/internal'

import { toCapabilities } from '../runs/to-wire.ts'

import type { ResolvedControlApiOptions } from '../options.ts'
import type { ServerStatus } from '@tutti/protocol'
import type { Liveness, Readiness } from '@tutti/protocol/internal'

/** State of the running server that its routes report. */
export interface ServerInfo {
  /** Returns the number of open WebSockets. */
  clients(): number
  /** Returns the port on which the server listens; 0 before it does. */
  port(): number
}

/**
 * Returns the route for capabilities.
 *
 * @throws {TuttiError} CONFIG_INVALID when `shared` names an unknown ensemble or tool.
 */
export function capabilitiesRoute(options: ResolvedControlApiOptions): HttpRoute {
  assertShared(options)
  return {
    ...ROUTES.getCapabilities,
    handle: () => Response.json(toCapabilities(options)),
  }
}

/** Returns the routes for status and health, which every process serves. */
export function healthRoutes(
  options: ResolvedControlApiOptions,
  info: ServerInfo,
): readonly HttpRoute[] {
  const { runs } = options
  return [
    {
      ...ROUTES.getStatus,
      async handle() {
        const { queued } = await runs.status.load()
        const status: ServerStatus = {
          status: 'running',
          clients: info.clients(),
          port: info.port(),
          lifecycleState: runs.status.phase,
          queueDepth: queued,
          activeTasks: runs.status.activeTasks,
          ...(options.surface === 'all' ? { sharedCapabilities: sharedCapabilities(options) } : {}),
        }
        return Response.json(status)
      },
    },
    {
      ...ROUTES.getLiveness,
      handle: () => Response.json({ status: 'UP' } satisfies Liveness),
    },
    {
      ...ROUTES.getReadiness,
      handle() {
        const { state, phase, engine } = runs.status
        const isReady = state === 'READY' && phase === 'READY'
        const body: Readiness = {
          status: isReady ? 'READY' : 'NOT_READY',
          lifecycleState: phase,
          ...(state === 'STORE_UNAVAILABLE' ? { reason: 'The run store cannot be reached' } : {}),
          ...(engine.name === 'store'
            ? {}
            : { dispatcher: { engine: engine.name, connected: engine.isConnected } }),
        }
        return Response.json(body, { status: isReady ? 200 : 503 })
      },
    },
  ]
}
