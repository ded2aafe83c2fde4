/** [X] Which plain calls are retried, how often, and when the delay of a retry is too long. */
import { describe, expect, it } from 'vitest'

import { createClient, type ClientOptions } from '../src/index.ts'
import { recordingClock, type RecordingClock } from './recording-clock.ts'
import { wireServer, type Handler, type WireServer } from './wire-server.ts'

const STATUS = { status: 'running', clients: 0, port: 7329 }
const ACCEPTED = { runId: 'run-1', status: 'ACCEPTED', tasks: 2, workflow: 'SEQUENTIAL' }
const AWAY = { error: 'STORE_UNAVAILABLE', message: 'The store is away' }

interface Called extends AsyncDisposable {
  readonly clock: RecordingClock
  readonly server: WireServer
  readonly client: ReturnType<typeof createClient>
}

async function called(
  handler: Handler,
  options: Partial<ClientOptions> & { readonly skipUpToMs?: number } = {},
): Promise<Called> {
  const { skipUpToMs = 10_000, ...rest } = options
  const clock = recordingClock({ skipUpToMs })
  const server = await wireServer(handler)
  const client = createClient({ baseUrl: server.url, clock, random: () => 1, ...rest })
  return { clock, server, client, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() }
}

/** Fails `failures` times, then answers. */
function flaky(failures: number, answer: unknown, status = 200): Handler {
  return (exchange, index) => {
    if (index < failures) exchange.json(503, AWAY)
    else exchange.json(status, answer)
  }
}

describe('[CLIENT-X2] a retry', () => {
  it('A retry of a call repeats a read call up to twice', async () => {
    await using on = await called(flaky(2, STATUS))
    expect(await on.client.status()).toEqual(STATUS)
    expect(on.clock.delays).toEqual([30_000, 250, 500])
    expect(on.clock.waiting).toEqual([])
  })

  it('A retry of a call is made twice at most, then the last failure is thrown', async () => {
    await using on = await called(flaky(9, STATUS))
    await expect(on.client.status()).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
    expect(on.server.exchanges).toHaveLength(3)
  })

  it('A retry of a call follows a broken connection', async () => {
    await using on = await called((exchange, index) => {
      if (index === 0) exchange.drop()
      else exchange.json(200, STATUS)
    })
    expect(await on.client.status()).toEqual(STATUS)
  })

  it('A retry of a call repeats a submit with an idempotency key, with the same key', async () => {
    await using on = await called(flaky(1, ACCEPTED, 202))
    await on.client.runs.submit({}, { idempotencyKey: 'order-7' })
    expect(on.server.exchanges.map(({ headers }) => headers['idempotency-key'])).toEqual([
      'order-7',
      'order-7',
    ])
  })

  it.each(['submit', 'cancel', 'inject', 'decide', 'invoke', 'delete'] as const)(
    'A retry of a call never repeats a plain %s',
    async (name) => {
      await using on = await called(flaky(9, {}))
      const { runs, reviews, tools } = on.client
      const calls = {
        submit: () => runs.submit({}),
        cancel: () => runs.cancel('r'),
        inject: () => runs.inject('r', 'Louder'),
        decide: () => reviews.decide('v', { decision: 'CONTINUE' }),
        invoke: () => tools.invoke('t', ''),
        delete: () => runs.delete('r'),
      }
      await expect(calls[name]()).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
      expect(on.server.exchanges).toHaveLength(1)
    },
  )

  it('A retry of a call does not follow a permanent failure', async () => {
    await using on = await called((exchange) => {
      exchange.json(404, { error: 'RUN_NOT_FOUND', message: 'No run' })
    })
    await expect(on.client.runs.get('r')).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' })
    expect(on.server.exchanges).toHaveLength(1)
  })

  it('A retry of a call is disabled with maxRepeats 0', async () => {
    await using on = await called(flaky(1, STATUS), { maxRepeats: 0 })
    await expect(on.client.status()).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
  })
})

describe('[CLIENT-X3] Retry-After', () => {
  it('Retry-After delays the retry', async () => {
    await using on = await called((exchange, index) => {
      if (index === 0) exchange.json(429, { ...AWAY, error: 'RATE_LIMITED', retryAfterMs: 4_000 })
      else exchange.json(200, STATUS)
    })
    expect(await on.client.status()).toEqual(STATUS)
    expect(on.clock.delays).toEqual([30_000, 4_000])
  })

  it('Retry-After prevents a retry if it exceeds the time limit of the call', async () => {
    await using on = await called((exchange) => {
      exchange.json(429, { ...AWAY, error: 'RATE_LIMITED', retryAfterMs: 30_000 })
    })
    await expect(on.client.status()).rejects.toMatchObject({
      code: 'RATE_LIMITED',
      retryAfterMs: 30_000,
    })
    expect(on.server.exchanges).toHaveLength(1)
  })
})

describe('[CLIENT-X1] the time limit of a call', () => {
  it('The time limit of a call is the limit of the call rather than the limit of the client', async () => {
    await using on = await called(() => undefined, { skipUpToMs: 0 })
    const failed = expect(on.client.status({ timeoutMs: 70 })).rejects.toMatchObject({
      code: 'TIMED_OUT',
      message: 'GET /api/status took longer than 70 ms',
    })
    await on.server.exchange(0)
    await on.clock.pass(70)
    await failed
  })

  it('The time limit of a call is added to the time for which a submit lets the server wait', async () => {
    await using on = await called((exchange) => exchange.json(202, ACCEPTED))
    expect(await on.client.runs.submit({}, { wait: 60 })).toMatchObject({ status: 'ACCEPTED' })
    expect(on.clock.delays).toEqual([90_000])
    expect(on.server.exchanges[0]?.url).toBe('/api/runs?wait=60')
  })

  it('The time limit of a call ends the wait for a retry', async () => {
    await using on = await called(flaky(9, STATUS), { skipUpToMs: 0 })
    const caller = new AbortController()
    const failed = expect(on.client.status({ signal: caller.signal })).rejects.toMatchObject({
      code: 'ABORTED',
    })
    await on.clock.timer(250)
    caller.abort()
    await failed
    expect(on.clock.waiting).toEqual([])
  })

  it('The time limit of a call must be above 0', async () => {
    await using on = await called(flaky(0, STATUS))
    await expect(on.client.status({ timeoutMs: 0 })).rejects.toThrow(RangeError)
    expect(() => on.client.runs.events('r', { timeoutMs: -1 })).toThrow(RangeError)
  })

  it('The time limit of a call ends the wait for a run', async () => {
    await using on = await called((exchange) => void exchange.open(), { skipUpToMs: 0 })
    const statuses: string[] = []
    const onConnection = ({ status }: { readonly status: string }) => void statuses.push(status)
    const waiting = on.client.runs.result('r', { timeoutMs: 800, onConnection })
    const failed = expect(waiting).rejects.toMatchObject({ code: 'TIMED_OUT' })
    await on.server.exchange(0)
    await on.clock.pass(800)
    await failed
    expect(statuses).not.toContain('reconnecting')
    expect(on.server.exchanges).toHaveLength(1)
  })
})

describe('special answers', () => {
  it('A submit with wait returns a run that must have ended', async () => {
    const run = { ...RUN, status: 'RUNNING' }
    await using on = await called((exchange) => exchange.json(200, run))
    await expect(on.client.runs.submit({}, { wait: 1 })).rejects.toMatchObject({
      code: 'BAD_RESPONSE',
      problems: [{ path: '/status' }],
    })
  })

  it('A server that is not ready returns an answer, a failing server does not', async () => {
    const body = { status: 'NOT_READY', lifecycleState: 'DRAINING' }
    await using on = await called(
      (exchange, index) => exchange.json(503, index === 0 ? body : AWAY),
      { maxRepeats: 0 },
    )
    expect(await on.client.health.ready()).toEqual(body)
    await expect(on.client.health.ready()).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
  })
})

const RUN = {
  runId: 'run-1',
  status: 'COMPLETED',
  startedAt: '2026-01-01T00:00:00.000Z',
  workflow: 'SEQUENTIAL',
  inputs: {},
  tags: {},
  tasks: [],
  metrics: { totalTokens: 0, totalToolCalls: 0 },
  pendingReviews: [],
  ensemble: 'sample',
  lastSeq: 4,
}
