/** The server itself: what it can do, and how it is. */
import { ROUTES } from '@tutti/protocol'

import { toCapabilities } from '../to-wire.ts'

import type { ResolvedControlApiOptions } from '../options.ts'
import type { Route } from './route.ts'
import type { Liveness, Readiness, ServerStatus } from '@tutti/protocol'

/** What the routes ask of the running server. */
export interface ServerFacts {
  /** Open WebSocket connections. */
  clients(): number
  /** Port it listens on; 0 before it does. */
  port(): number
}

/** The routes for capabilities, status and health. */
export function serverRoutes(
  { runs, tools, models }: ResolvedControlApiOptions,
  facts: ServerFacts,
): readonly Route[] {
  const lifecycleState = (): 'READY' | 'DRAINING' => (runs.accepting ? 'READY' : 'DRAINING')
  return [
    {
      ...ROUTES.getCapabilities,
      handle: () => Response.json(toCapabilities(runs.ensembles, tools, models)),
    },
    {
      ...ROUTES.getStatus,
      handle() {
        const status: ServerStatus = {
          status: 'running',
          clients: facts.clients(),
          port: facts.port(),
          lifecycleState: lifecycleState(),
          queueDepth: runs.load.queued,
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
        const state = lifecycleState()
        const status = state === 'READY' ? 'READY' : 'NOT_READY'
        const body: Readiness = { status, lifecycleState: state }
        return Response.json(body, { status: status === 'READY' ? 200 : 503 })
      },
    },
  ]
}
