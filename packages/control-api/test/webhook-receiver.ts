/** Webhook receiver on loopback that verifies signatures and responds as the test requires. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'

import { Webhook as Verifier } from 'standardwebhooks'

import { onBody } from '../../../tooling/test-kit/on-body.ts'

import type { WebhookDelivery } from '@tutti/protocol'
import type { AddressInfo } from 'node:net'

/** A verified request. */
export interface Received {
  readonly id: string
  readonly delivery: WebhookDelivery
}

/** A running receiver. */
export interface Receiver extends AsyncDisposable {
  readonly url: string
  readonly secret: string
  /** Requests with a valid signature. */
  readonly received: readonly Received[]
  /** Number of requests with an invalid signature. */
  readonly forged: number
  /** Resolves when a number of requests has arrived. */
  until(count: number): Promise<readonly Received[]>
}

/** Reaction to the request of an index, from 0: a status, a redirect or no response. */
export type Answering = (index: number) => number | 'silence' | 'redirect'

/** Starts a receiver. */
export async function webhookReceiver(
  answering: Answering = () => 204,
  now: () => number = Date.now,
): Promise<Receiver> {
  const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
  const verifier = new Verifier(secret)
  const received: Received[] = []
  let forged = 0
  let wake = (): void => undefined
  const server = createServer((request, response) => {
    onBody(request, (body) => receive(request, response, body))
  })
  const receive = (request: IncomingMessage, response: ServerResponse, body: string): void => {
    const headers = Object.fromEntries(
      Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
    )
    const index = received.length
    try {
      runAtTime(now(), () => verifier.verify(body, headers))
      received.push({
        id: headers['webhook-id'] ?? '',
        // NOTE: the verifier accepted it, so it came from the sender under test.
        delivery: JSON.parse(body) as WebhookDelivery,
      })
    } catch {
      forged += 1
    }
    wake()
    const answer = answering(index)
    if (answer === 'silence') return
    if (answer === 'redirect') response.setHeader('location', `${url}/elsewhere`)
    response.statusCode = answer === 'redirect' ? 307 : answer
    response.end('taken')
  }
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const { port } = server.address() as AddressInfo
  const url = `http://127.0.0.1:${port}`
  return {
    url,
    secret,
    received,
    get forged() {
      return forged
    },
    async until(count) {
      while (received.length < count) {
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
      return received
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Runs a function at another system time, because the verifier compares the age of messages with it. */
function runAtTime(time: number, work: () => void): void {
  const { now } = Date
  Date.now = () => time
  try {
    work()
  } finally {
    Date.now = now
  }
}
