/**
 * Stopping the server: it takes no new runs, lets the running ones end or hands them over, and stops.
 *
 * Where keys are set the route needs `admin`. Where none are, everybody may do everything, but not stop the
 * server from another machine.
 */
import { isLoopback, TuttiError } from '@tutti/core'
import { ROUTES, type DrainAccepted } from '@tutti/protocol'

import type { Caller, HttpRoute } from '@tutti/gateway'
import type { ResolvedControlApiOptions } from '../options.ts'

const ACCEPTED = JSON.stringify({ status: 'DRAINING' } satisfies DrainAccepted)

/** The route that drains the server. Asked again it answers the same, and does nothing more. */
export function lifecycleRoutes({
  drain,
}: Pick<ResolvedControlApiOptions, 'drain'>): readonly HttpRoute[] {
  let isDraining = false
  const drainOnce = (): void => {
    if (isDraining) return
    isDraining = true
    drain?.()
  }
  return [
    {
      ...ROUTES.drain,
      handle({ caller }) {
        assertLocal(caller)
        if (drain === undefined) {
          const message = 'This server cannot be stopped by a request; end its process'
          throw new TuttiError('NOT_CONFIGURED', message)
        }
        return respondThen(drainOnce)
      },
    },
  ]
}

/** @throws {TuttiError} FORBIDDEN for a caller without a key who is not on this machine. */
function assertLocal({ name, remoteAddress = 'unknown' }: Caller): void {
  if (name !== undefined || isLoopback(remoteAddress)) return
  const message = `A server without keys is drained from its own machine only, and not from ${remoteAddress}`
  throw new TuttiError('FORBIDDEN', message)
}

/** The answer, and `act` when all of it was taken, or nobody takes it any more. */
function respondThen(act: () => void): Response {
  const soon = (): void => {
    setImmediate(act)
  }
  let isSent = false
  const body = new ReadableStream<Uint8Array>(
    {
      // Asked for more, it is known that what was given is on its way.
      pull(controller) {
        if (isSent) {
          controller.close()
          soon()
          return
        }
        isSent = true
        controller.enqueue(new TextEncoder().encode(ACCEPTED))
      },
      cancel: soon,
    },
    { highWaterMark: 0 },
  )
  const headers = { 'content-type': 'application/json', 'content-length': `${ACCEPTED.length}` }
  return new Response(body, { headers })
}
