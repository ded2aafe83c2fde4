import { silentLogger } from '@tutti/core/internal'
import { fakeClock } from '@tutti/testing'
import { describe, expect, it } from 'vitest'

import { webhookReceiver } from '../../test/webhook-receiver.ts'
import { redactor } from '../secrets/redactor.ts'
import { WebhookSender } from './webhook-sender.ts'

import type { LoggedRunEvent } from '@tutti/protocol'
import type { RunService } from '@tutti/runs'
import type { ClaimedDelivery, DeliveryEnd, ReviewRecord, WebhookOutbox } from '@tutti/runs/adapter'

const AT = '2026-01-01T00:00:00.000Z'

const REQUEST = {
  type: 'review_requested',
  reviewId: 'review-1',
  taskIndex: 1,
  taskName: 'tune',
  taskDescription: 'Tune',
  agentRole: 'Player',
  attempt: 1,
  taskOutput: 'tuned',
  kind: 'TASK_OUTPUT',
  timing: 'AFTER_EXECUTION',
  prompt: null,
  timeoutMs: 0,
  onTimeout: 'CONTINUE',
  requestedAt: AT,
} as const

describe('WebhookSender', () => {
  it.each<[number, number, object]>([
    [1, 500, { kind: 'retry', reason: 'Receiver responded with 500' }],
    [9, 500, { kind: 'retry', reason: 'Receiver responded with 500' }],
    [10, 500, { kind: 'given_up', reason: 'Receiver responded with 500' }],
    [1, 200, { kind: 'done' }],
    [1, 299, { kind: 'done' }],
    [1, 300, { kind: 'retry', reason: 'Receiver responded with 300' }],
    [1, 410, { kind: 'given_up', reason: 'Receiver responded with 410' }],
  ])('[API-W1] A webhook attempt %i that gets %i results in %j', async (attempt, status, end) => {
    await using receiver = await webhookReceiver(() => status)
    const { settled } = deliver(attempt, receiver.url)
    const { kind, ...more } = await settled
    expect({ kind, ...more }).toMatchObject(end)
    expect('dueInMs' in more && more.dueInMs > 0).toBe(kind === 'retry')
  })

  it('WebhookSender leaves no timer when an attempt has ended', async () => {
    await using receiver = await webhookReceiver()
    const { settled, sender, clock } = deliver(1, receiver.url)
    await settled
    await sender.stop()
    expect(clock.pending).toBe(0)
  })
})

/** Sends one delivery; `settled` resolves with its recorded outcome. */
function deliver(attempt: number, url: string) {
  const { promise: settled, resolve } = Promise.withResolvers<DeliveryEnd>()
  const event: LoggedRunEvent = { ...REQUEST, runId: 'run-1', seq: 3, id: 'run-1:3' }
  const review: ReviewRecord = {
    reviewId: 'review-1',
    runId: 'run-1',
    ensemble: 'band',
    inputs: {},
    tags: {},
    status: 'OPEN',
    openedAt: Date.parse(AT),
    request: REQUEST,
  }
  const waiting: ClaimedDelivery[] = [
    { id: 'run-1:3:ci', runId: 'run-1', seq: 3, webhook: 'ci', attempt },
  ]
  const outbox: Pick<WebhookOutbox, 'claim' | 'settle'> = {
    claim: async () => waiting.splice(0),
    settle: async (_, end) => resolve(end),
  }
  const runs = {
    readEvents: async () => [event],
    record: async () => undefined,
    reviews: { get: async () => review },
    processes: { takesTurn: () => true },
    stores: { outbox, listenToOutbox: () => () => undefined },
  }
  const clock = fakeClock()
  const secret = `whsec_${Buffer.alloc(24).toString('base64')}`
  const sender = new WebhookSender({
    // NOTE: the subject uses no other members.
    runs: runs as unknown as RunService,
    webhooks: { ci: { url, secret } },
    clock,
    logger: silentLogger,
    redactor: redactor([]),
  })
  return { settled, sender, clock }
}
