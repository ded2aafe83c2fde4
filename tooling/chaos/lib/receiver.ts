/** A receiver of webhooks outside of the system. It refuses the first attempt of some deliveries. */
import { json } from 'node:stream/consumers'

import { listenLocally, type Listening } from '../../net/listen.ts'
import { draw } from './draw.ts'

import type { WebhookDelivery } from '@tutti/protocol'

/** An attempt of a delivery. */
export interface Delivery {
  /** Its `webhook-id`. */
  readonly id: string
  /** Time in milliseconds since 1970. */
  readonly at: number
  readonly type: WebhookDelivery['type']
  /** Time of its event, in milliseconds since 1970. */
  readonly eventAt: number
  readonly runId: string
  readonly isAccepted: boolean
}

/** A listening receiver. */
export interface Receiver extends Listening {
  readonly deliveries: readonly Delivery[]
}

/** Share of the deliveries whose first attempt is refused. */
const REFUSED_SHARE = 0.1

/** Starts a receiver on a free port of 127.0.0.1. */
export async function startReceiver(seed: number): Promise<Receiver> {
  const deliveries: Delivery[] = []
  const server = await listenLocally((request, response) => {
    void json(request).then((body) => {
      // NOTE: only the servers of the test know this address.
      const { type, timestamp, data } = body as WebhookDelivery
      const id = String(request.headers['webhook-id'])
      const isFirst = !deliveries.some((delivery) => delivery.id === id)
      const isAccepted = !isFirst || draw(seed, 'webhook', id) >= REFUSED_SHARE
      const eventAt = Date.parse(timestamp)
      deliveries.push({ id, at: Date.now(), type, eventAt, runId: data.runId, isAccepted })
      response.writeHead(isAccepted ? 204 : 500).end()
    }, request.destroy.bind(request))
  })
  return { ...server, deliveries }
}
