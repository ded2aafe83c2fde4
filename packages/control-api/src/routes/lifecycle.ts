/**
 * Drains the server: it accepts no new runs, lets running ones end or hands them over, and stops.
 *
 * With configured keys, the route requires the scope `admin`. Without keys, only callers on the same machine may use it.
 */
import { TuttiError } from '@tutti/core'
import { isLoopback } from '@tutti/core/internal'
import { ROUTES } from '@tutti/protocol'
import type { DrainAccepted } from '@tutti/protocol/internal'

import type { Caller, HttpRoute } from '@tutti/gateway/internal'
import type { ResolvedControlApiOptions } from '../options.ts'

const ACCEPTED = JSON.stringify({ status: 'DRAINING' } satisfies DrainAccepted)

/** Returns the route that drains the server. Repeated requests get the same response and have no further effect. */
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
          const message =
            'This server does not support draining by request; stop its process instead'
          throw new TuttiError('NOT_CONFIGURED', message)
        }
        return respondThen(drainOnce)
      },
    },
  ]
}

/**
 * Checks that a caller without a key is on this machine.
 *
 * @throws {TuttiError} FORBIDDEN.
 */
function assertLocal({ name, remoteAddress = 'unknown' }: Caller): void {
  if (name !== undefined || isLoopback(remoteAddress)) return
  const message = `A server without keys can be drained only from its own machine, not from ${remoteAddress}`
  throw new TuttiError('FORBIDDEN', message)
}

/** Returns the response, and calls `act` after the response was read or its client has left. */
function respondThen(act: () => void): Response {
  const soon = (): void => {
    setImmediate(act)
  }
  let isSent = false
  const body = new ReadableStream<Uint8Array>(
    {
      // A second pull means that the first chunk is being sent.
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
