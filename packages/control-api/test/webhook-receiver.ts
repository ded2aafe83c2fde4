/** A receiver of webhooks on loopback: checks signatures as any receiver does, and answers as a test says. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'

import { Webhook as Verifier } from 'standardwebhooks'

import type { WebhookDelivery } from '@tutti/protocol'
import type { AddressInfo } from 'node:net'

/** One request that was verified. */
export interface Received {
  readonly id: string
  readonly delivery: WebhookDelivery
}

/** A receiver that listens. */
export interface Receiver extends AsyncDisposable {
  readonly url: string
  readonly secret: string
  /** What came with a signature that fits. */
  readonly received: readonly Received[]
  /** Requests whose signature does not fit. */
  readonly forged: number
  /** Resolves when that many have come. */
  until(count: number): Promise<readonly Received[]>
}

/** What a receiver does with the request of that number, from 0: a status, or no answer at all. */
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
    void receive(request, response)
  })
  const receive = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const body = Buffer.concat(chunks).toString()
    const headers = Object.fromEntries(
      Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
    )
    const index = received.length
    try {
      at(now(), () => verifier.verify(body, headers))
      received.push({
        id: headers['webhook-id'] ?? '',
        // NOTE: what the verifier has let through was made by the sender under test.
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

/** Does something at another time: the verifier asks the clock of the machine how old a message is. */
function at(time: number, work: () => void): void {
  const { now } = Date
  Date.now = () => time
  try {
    work()
  } finally {
    Date.now = now
  }
}
