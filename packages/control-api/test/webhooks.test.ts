import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { serveControlApi, type Webhook } from '@tutti/control-api'
import { toolCatalog, type Clock, type Logger } from '@tutti/core'
import { ensemble, modelCatalog, task } from '@tutti/ensemble'
import { decode, WebhookDelivery } from '@tutti/protocol'
import { createRunService, type RunService, sqliteRunStorage } from '@tutti/runs'
import { fakeClock } from '@tutti/testing'
import { describe, expect, it } from 'vitest'

import { webhookReceiver, type Receiver } from './webhook-receiver.ts'

describe('a webhook', () => {
  it('A webhook is notified of the end of a run that names it, signed, with the run in detail', async () => {
    await using receiver = await webhookReceiver()
    await using server = await openWebhookServer({ ci: receiver })
    const runId = await server.submit({ webhooks: ['ci'], tags: { by: 'ci' } })
    await server.submit({})
    const [{ id, delivery } = missing()] = await receiver.until(1)
    expect(receiver.forged).toBe(0)
    expect(decode(WebhookDelivery, delivery).ok).toBe(true)
    expect(delivery).toMatchObject({
      type: 'run.completed',
      data: { runId, status: 'COMPLETED', tags: { by: 'ci' }, webhooks: ['ci'] },
    })
    expect(id).toContain(runId)
    await server.settled()
    expect(receiver.received).toHaveLength(1)
  })

  it('A webhook is notified of failed and cancelled runs', async () => {
    await using receiver = await webhookReceiver()
    await using server = await openWebhookServer({ ci: receiver })
    await server.submit({ ensemble: 'broken', webhooks: ['ci'] })
    await receiver.until(1)
    const held = await server.submit({ ensemble: 'reviewed', webhooks: ['ci'] })
    await receiver.until(2)
    await server.runs.send(held, { kind: 'cancel' })
    const types = (await receiver.until(3)).map(({ delivery }) => delivery.type)
    expect(types).toEqual(['run.failed', 'review.requested', 'run.cancelled'])
  })

  it('A webhook gets only the events that it selects', async () => {
    await using all = await webhookReceiver()
    await using ends = await webhookReceiver()
    await using server = await openWebhookServer({
      all,
      ends: { ...webhookOf(ends), events: ['run.completed'] },
    })
    const runId = await server.submit({ ensemble: 'reviewed', webhooks: ['all', 'ends'] })
    const [{ delivery } = missing()] = await all.until(1)
    if (delivery.type !== 'review.requested')
      throw new Error(`Unexpected delivery: ${delivery.type}`)
    expect(delivery.data).toMatchObject({ runId, timing: 'AFTER_EXECUTION', taskName: 'sing' })
    const { reviewId } = delivery.data
    const decision = { action: 'CONTINUE' } as const
    await server.runs.send(runId, { kind: 'decide', reviewId, decision })
    const [end = missing()] = await ends.until(1)
    expect(end.delivery.type).toBe('run.completed')
    await all.until(2)
  })

  it('[API-W1] [API-W2] [API-W4] A webhook gets a delivery again after an error or a redirect, each time with the same id', async () => {
    const clock = fakeClock(Date.now())
    await using receiver = await webhookReceiver(
      (index) => [500, 'redirect' as const, 200][index] ?? 200,
      () => clock.now(),
    )
    await using server = await openWebhookServer({ ci: receiver }, { clock })
    await server.submit({ webhooks: ['ci'] })
    await receiver.until(1)
    await server.settled()
    await clock.advance(4_000)
    await server.settled()
    expect(receiver.received).toHaveLength(1)
    await clock.advance(6_000)
    await receiver.until(2)
    await server.settled()
    await clock.advance(6 * 60_000)
    const all = await receiver.until(3)
    await server.settled()
    expect(new Set(all.map(({ id }) => id)).size).toBe(1)
    await clock.advance(60_000)
    await server.settled()
    expect(receiver.received).toHaveLength(3)
    expect(
      server.warnings.filter((text) => text === 'Webhook delivery failed; retrying'),
    ).toHaveLength(2)
  })

  it('A webhook gets no more attempts after it returned 410', async () => {
    await using gone = await webhookReceiver(() => 410)
    await using server = await openWebhookServer({ gone })
    await server.submit({ webhooks: ['gone'] })
    await gone.until(1)
    await server.until(() => server.warnings.includes('Webhook delivery failed permanently'))
    await server.settled()
    expect(gone.received).toHaveLength(1)
  })

  it('[API-W3] A webhook that does not respond delays no others, and its attempt times out', async () => {
    const clock = fakeClock(Date.now())
    await using silent = await webhookReceiver((index) => (index === 0 ? 'silence' : 200))
    await using quick = await webhookReceiver()
    await using server = await openWebhookServer({ silent, quick }, { clock })
    await server.submit({ webhooks: ['silent', 'quick'] })
    await quick.until(1)
    await silent.until(1)
    await clock.advance(16_000)
    await server.until(() => server.warnings.includes('Webhook delivery failed; retrying'))
    await clock.advance(10_000)
    await silent.until(2)
  })

  it('[API-W6] A webhook gets at most eight deliveries at the same time, and the ninth when one has ended', async () => {
    const clock = fakeClock(Date.now())
    await using receiver = await webhookReceiver((index) => (index < 8 ? 'silence' : 200))
    await using server = await openWebhookServer({ ci: receiver }, { clock })
    for (let index = 0; index < 9; index += 1) await server.submit({ webhooks: ['ci'] })
    await receiver.until(8)
    await clock.advance(16_000)
    const all = await receiver.until(9)
    await server.settled()
    expect(new Set(all.map(({ id }) => id)).size).toBe(9)
    expect(server.maxInProgress).toBe(8)
  })

  it('[API-W1] [API-W5] A webhook gets the interrupted delivery of the previous process after a restart', async () => {
    const clock = fakeClock(Date.now())
    await using receiver = await webhookReceiver((index) => (index === 0 ? 'silence' : 200))
    const first = await openWebhookServer({ ci: receiver }, { clock })
    const runId = await first.submit({ webhooks: ['ci'] })
    await receiver.until(1)
    await first.stop()
    await using second = await openWebhookServer({ ci: receiver }, { clock, path: first.path })
    await clock.advance(70_000)
    const [before = missing(), after = missing()] = await receiver.until(2)
    expect(after.id).toBe(before.id)
    expect(after.delivery.data.runId).toBe(runId)
    await second.settled()
  })

  it('A webhook that is not registered is refused, with the registered names', async () => {
    await using receiver = await webhookReceiver()
    await using server = await openWebhookServer({ ci: receiver })
    const response = await server.post({ webhooks: ['crm', 'ci'] })
    expect(response.status).toBe(400)
    expect(await response.json()).toEqual({
      error: 'INVALID_WEBHOOK',
      message: "Unknown webhook 'crm'. Available: [ci]",
    })
    const mistyped = await server.post({ webhooks: ['ic'] })
    expect(await mistyped.json()).toMatchObject({
      message: "Unknown webhook 'ic'. Available: [ci]. Did you mean 'ci'?",
    })
  })

  it('A webhook requires a valid address and secret; every problem is named, and no secret shown', async () => {
    const webhooks = {
      a: { url: 'ftp://x', secret: 'whsec_c2hvcnQ=' },
      b: { url: 'https://b.example', secret: 'my-password' },
    }
    const opening = openWebhookServer(webhooks)
    await expect(opening).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
    await expect(opening).rejects.toThrow(
      /webhooks\.a\.url .*ftp.*webhooks\.a\.secret .*webhooks\.b\.secret/,
    )
    await expect(opening).rejects.not.toThrow(/my-password|c2hvcnQ/)
  })
})

function webhookOf({ url, secret }: Pick<Receiver, 'url' | 'secret'>): Webhook {
  return { url, secret }
}

function missing(): never {
  throw new Error('Nothing was received')
}

interface House extends AsyncDisposable {
  readonly path: string
  readonly runs: RunService
  readonly warnings: readonly string[]
  /** Maximum number of claimed deliveries without an outcome so far. */
  readonly maxInProgress: number
  post(body: object): Promise<Response>
  /** Submits a run and returns its id. */
  submit(body: object): Promise<string>
  /** Resolves when `holds` returns true, without advancing the clock. */
  until(holds: () => boolean): Promise<void>
  /** Resolves when no delivery is in progress: due deliveries have been claimed and settled. */
  settled(): Promise<void>
  stop(): Promise<void>
}

/** Serves a control API with webhooks and ensembles that end at once, fail, or wait for a review. */
async function openWebhookServer(
  webhooks: Readonly<Record<string, Webhook | Pick<Receiver, 'url' | 'secret'>>>,
  {
    clock,
    path = mkdtempSync(join(tmpdir(), 'tutti-hooks-')),
  }: { clock?: Clock; path?: string } = {},
): Promise<House> {
  const warnings: string[] = []
  const silent = (): void => undefined
  const logger: Logger = {
    debug: silent,
    info: silent,
    warn: (text) => {
      warnings.push(text)
    },
    error: silent,
  }
  const timed = clock === undefined ? {} : { clock }
  const sing = task({ name: 'sing', description: 'Sing', handler: () => 'la' })
  const fail = task({
    name: 'fail',
    description: 'Fail',
    handler: () => {
      throw new Error('out of tune')
    },
  })
  const ensembles = [
    ensemble({ name: 'simple', tasks: [sing] }),
    ensemble({ name: 'broken', tasks: [fail] }),
    ensemble({ name: 'reviewed', tasks: [sing], reviewPolicy: 'AFTER_LAST_TASK' }),
  ]
  const storage = await sqliteRunStorage(path, timed)
  let underWay = 0
  let maxInProgress = 0
  const { outbox } = storage
  const watched = new Proxy(storage, {
    get(target, name: keyof typeof storage) {
      if (name !== 'outbox') {
        const member: unknown = target[name]
        return typeof member === 'function' ? member.bind(target) : member
      }
      return {
        async claim(...given: Parameters<typeof outbox.claim>) {
          const claimed = await outbox.claim(...given)
          underWay += claimed.length
          maxInProgress = Math.max(maxInProgress, underWay)
          return claimed
        },
        async settle(...given: Parameters<typeof outbox.settle>) {
          await outbox.settle(...given)
          underWay -= 1
        },
      }
    },
  })
  const runs = createRunService(watched, ensembles, { logger, ...timed })
  const hooks = Object.fromEntries(
    Object.entries(webhooks).map(([name, hook]) => [
      name,
      'received' in hook ? webhookOf(hook) : hook,
    ]),
  )
  const parts = { runs, tools: toolCatalog([]), models: modelCatalog({}), logger, ...timed }
  const server = await serveControlApi({ ...parts, webhooks: hooks }, { port: 0 }).catch(
    async (error: unknown) => {
      await runs.close({ drainTimeoutMs: 0 })
      throw error
    },
  )
  await runs.start()
  const post = (body: object): Promise<Response> =>
    fetch(`${server.url}/api/runs`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  const until = async (holds: () => boolean): Promise<void> => {
    while (!holds()) await new Promise((resolve) => setTimeout(resolve, 5))
  }
  const stop = async (): Promise<void> => {
    await runs.close({ drainTimeoutMs: 1_000 })
    await server.close()
  }
  return {
    path,
    runs,
    warnings,
    get maxInProgress() {
      return maxInProgress
    },
    post,
    async submit(body) {
      const response = await post(body)
      const { runId } = (await response.json()) as { runId: string }
      return runId
    },
    until,
    settled: () => until(() => underWay === 0),
    stop,
    async [Symbol.asyncDispose]() {
      await stop()
      rmSync(path, { recursive: true })
    },
  }
}
