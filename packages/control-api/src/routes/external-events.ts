/** Receives external events. */
import { decode, ROUTES } from '@tutti/protocol'
import { ExternalEventName, SendEventBody, type EventReceived } from '@tutti/protocol/internal'
import { badRequest, readJsonBody, type HttpRoute } from '@tutti/gateway/internal'

import type { ReceivedState } from '@tutti/runs/internal'
import type { ResolvedControlApiOptions } from '../options.ts'

/** Returns the route of external events. */
export function externalEventRoutes({
  runs,
  maxBodyBytes,
}: Pick<ResolvedControlApiOptions, 'runs' | 'maxBodyBytes'>): readonly HttpRoute[] {
  return [
    {
      ...ROUTES.sendEvent,
      async handle({ request, caller, addSubject, parameters: { name = '' } }) {
        const body = await readJsonBody(request, SendEventBody, maxBodyBytes)
        if (!decode(ExternalEventName, name).ok) {
          const message =
            'must be 1 to 100 letters, digits, "_", ".", ":" or "-" and start with a letter or digit'
          throw badRequest('event', [{ path: '/name', message }])
        }
        addSubject({ target: name })
        const { id, state } = await runs.externalEvents.receive({
          name,
          ...body,
          ...(caller.name === undefined ? {} : { sender: caller.name }),
        })
        const received = toEventReceived(id, state)
        if (received.runId !== undefined) addSubject({ runId: received.runId })
        return Response.json(received, { status: 202 })
      },
    },
  ]
}

function toEventReceived(id: string, state: ReceivedState): EventReceived {
  if (state.kind === 'free') return { id, status: 'STORED' }
  const { kind, runId, reviewId } = state
  return {
    id,
    status: kind === 'delivered' ? 'DELIVERED' : 'DELIVERING',
    ...(runId === undefined ? {} : { runId }),
    ...(reviewId === undefined ? {} : { reviewId }),
  }
}
