/** The server itself: what it can do, and how it is. */
import { ROUTES } from '@tutti/protocol'
import { assertShared, type HttpRoute, sharedCapabilities } from '@tutti/gateway'

import { toCapabilities } from '../runs/to-wire.ts'

import type { ResolvedControlApiOptions } from '../options.ts'
import type { Liveness, Readiness, ServerStatus } from '@tutti/protocol'

/** What the routes ask of the running server. */
export interface ServerInfo {
  /** Open WebSocket connections. */
  clients(): number
  /** Port it listens on; 0 before it does. */
  port(): number
}

/**
 * The route for capabilities.
 *
 * @throws {TuttiError} CONFIG_INVALID when what is to be shared is not there.
 */
export function capabilitiesRoute(options: ResolvedControlApiOptions): HttpRoute {
  assertShared(options)
  return {
    ...ROUTES.getCapabilities,
    handle: () => Response.json(toCapabilities(options)),
  }
}

/** The routes for status and health, which every process serves. */
export function healthRoutes(
  options: ResolvedControlApiOptions,
  info: ServerInfo,
): readonly HttpRoute[] {
  const { runs } = options
  return [
    {
      ...ROUTES.getStatus,
      async handle() {
        const { queued } = await runs.load()
        const status: ServerStatus = {
          status: 'running',
          clients: info.clients(),
          port: info.port(),
          lifecycleState: runs.phase,
          queueDepth: queued,
          activeTasks: runs.activeTasks,
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
        const { state, phase } = runs
        const isReady = state === 'READY' && phase === 'READY'
        const body: Readiness = {
          status: isReady ? 'READY' : 'NOT_READY',
          lifecycleState: runs.phase,
          ...(state === 'STORE_UNAVAILABLE' ? { reason: 'The run store cannot be reached' } : {}),
        }
        return Response.json(body, { status: isReady ? 200 : 503 })
      },
    },
  ]
}
