/** Servers that break the rules: the client returns no event twice, out of order, or unchecked. */
import { describe, expect, it } from 'vitest'

import { createClient, type ConnectionState, type TuttiClient } from '../src/index.ts'
import { recordingClock, type RecordingClock } from './recording-clock.ts'
import { asked, collect, frame, frames, LOG, logged, RESULT, RUN_ID, token } from './sample-run.ts'
import { wireServer, type WireServer } from './wire-server.ts'

function eagerClient({ url }: WireServer, clock?: RecordingClock): TuttiClient {
  return createClient({
    baseUrl: url,
    clock: clock ?? recordingClock({ skipUpToMs: 10_000 }),
    random: () => 1,
  })
}

describe('[CLIENT-R1] order', () => {
  it('A stream of events drops repeated events', async () => {
    await using server = await wireServer(async (exchange) => {
      await exchange.open().write(LOG.map((event) => frames(LOG.slice(0, event.seq + 1))).join(''))
    })
    expect(await collect(eagerClient(server).runs.events(RUN_ID))).toEqual(LOG)
  })

  it('A stream of events drops repeated events of a server that always starts with the first one', async () => {
    await using server = await wireServer(async (exchange, index) => {
      await exchange.open().write(frames(LOG.slice(0, index + 1)))
      exchange.end()
    })
    expect(await collect(eagerClient(server).runs.events(RUN_ID))).toEqual(LOG)
    expect(server.exchanges.length).toBe(LOG.length)
  })

  it('A stream of events reconnects for a missing event', async () => {
    await using server = await wireServer(async (exchange, index) => {
      const rest = asked(LOG, exchange)
      await exchange.open().write(frames(index === 0 ? rest.filter(({ seq }) => seq !== 2) : rest))
    })
    const states: ConnectionState[] = []
    const events = eagerClient(server).runs.events(RUN_ID, {
      onConnection: (state) => states.push(state),
    })
    expect(await collect(events)).toEqual(LOG)
    expect(server.exchanges[1]?.lastEventId).toBe('run-1:1')
    expect(states[1]).toMatchObject({
      status: 'reconnecting',
      error: { message: 'Expected event 2 of run "run-1", got 3' },
    })
    await server.exchanges[0]?.closed
  })

  it('A stream of events fails if an event is missing five times', async () => {
    await using server = await wireServer(async (exchange) => {
      await exchange.open().write(frames(asked(LOG, exchange).filter(({ seq }) => seq !== 2)))
    })
    const got: number[] = []
    const reading = (async () => {
      for await (const { seq } of eagerClient(server).runs.events(RUN_ID)) got.push(seq)
    })()
    await expect(reading).rejects.toMatchObject({ code: 'BAD_RESPONSE', retryable: false })
    expect(got).toEqual([0, 1])
    expect(server.exchanges.length).toBe(5)
  })

  it('A stream of events continues if each of several events is missing once', async () => {
    const log = logged([...Array.from({ length: 12 }, () => token('x')), RESULT])
    await using server = await wireServer(async (exchange, index) => {
      const rest = asked(log, exchange)
      await exchange.open().write(frames(index % 2 === 0 ? rest.slice(1, 2) : rest.slice(0, 1)))
      exchange.end()
    })
    expect(await collect(eagerClient(server).runs.events(RUN_ID))).toEqual(log)
  })

  it('A stream of events skips events of an unknown type, and counts them', async () => {
    const log: object[] = [...LOG]
    log[2] = { type: 'tea_break', runId: RUN_ID, seq: 2, id: 'run-1:2', tea: 'green' }
    await using server = await wireServer(async (exchange) => {
      const next = exchange.lastEventId === 'run-1:2' ? 3 : 0
      const sent = next === 0 ? log.slice(0, 3) : log.slice(next)
      await exchange
        .open()
        .write(sent.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''))
      exchange.end()
    })
    const events = await collect(eagerClient(server).runs.events(RUN_ID))
    expect(events.map(({ seq }) => seq)).toEqual([0, 1, 3, 4])
  })
})

describe('[CLIENT-R3] failures that a retry cannot fix', () => {
  it.each([
    ['a frame that is no JSON', 'data: {"type":"tok\n\n', 'must be JSON'],
    [
      'an event of the wrong shape',
      'data: {"type":"token","runId":"run-1","seq":1,"id":"a"}\n\n',
      '/token',
    ],
    [
      'an event of another run',
      `data: ${JSON.stringify({ ...LOG[1], runId: 'run-2' })}\n\n`,
      '/runId',
    ],
    [
      'something else altogether',
      'event: ping\ndata: 1\n\n',
      'Cannot read the events of run "run-1"',
    ],
  ])('A stream throws at %s, after the events before it', async (_, wrong, message) => {
    await using server = await wireServer(async (exchange) => {
      await exchange.open().write(frame(LOG[0]!) + wrong)
    })
    const got: number[] = []
    const states: ConnectionState[] = []
    const onConnection = (state: ConnectionState): void => {
      states.push(state)
    }
    const reading = (async () => {
      for await (const { seq } of eagerClient(server).runs.events(RUN_ID, { onConnection })) {
        got.push(seq)
      }
    })()
    await expect(reading).rejects.toMatchObject({
      code: 'BAD_RESPONSE',
      message: expect.stringContaining(message),
    })
    expect(got).toEqual([0])
    expect(states.at(-1)).toMatchObject({
      status: 'closed',
      lastEventId: 'run-1:0',
      error: { code: 'BAD_RESPONSE' },
    })
    await server.exchanges[0]?.closed
    expect(server.exchanges.length).toBe(1)
  })

  it('A stream throws at an answer that is not an event stream', async () => {
    await using server = await wireServer((exchange) => {
      exchange.answer(200, '<html>', { 'content-type': 'text/html' })
    })
    await expect(collect(eagerClient(server).runs.events(RUN_ID))).rejects.toMatchObject({
      code: 'BAD_RESPONSE',
      status: 200,
      message: expect.stringContaining('content type text/html'),
    })
  })

  it.each([
    [404, 'RUN_NOT_FOUND'],
    [409, 'CURSOR_PAST_END'],
    [401, 'UNAUTHORIZED'],
    [400, 'BAD_REQUEST'],
    [409, 'RUN_NOT_RUNNING'],
  ])('A stream throws at %i %s', async (status, code) => {
    await using server = await wireServer((exchange) => {
      exchange.json(status, { error: code, message: 'because' })
    })
    await expect(collect(eagerClient(server).runs.events(RUN_ID))).rejects.toMatchObject({
      code,
      status,
      message: expect.stringContaining('because'),
    })
    expect(server.exchanges.length).toBe(1)
  })

  it('A stream throws if the run no longer exists after a lost connection', async () => {
    await using server = await wireServer(async (exchange, index) => {
      if (index > 0) {
        exchange.json(404, { error: 'RUN_NOT_FOUND', message: 'No run with ID run-1' })
        return
      }
      await exchange.open().write(frame(LOG[0]!))
      exchange.end()
    })
    await expect(eagerClient(server).runs.result(RUN_ID)).rejects.toMatchObject({
      code: 'RUN_NOT_FOUND',
    })
  })
})

describe('[CLIENT-R3] failures that a retry can fix', () => {
  it.each([
    [429, 'RATE_LIMITED'],
    [503, 'STORE_UNAVAILABLE'],
    [500, 'INTERNAL'],
  ])('A stream retries after %i %s', async (status, code) => {
    await using server = await wireServer(async (exchange, index) => {
      if (index < 3) exchange.json(status, { error: code, message: 'later' })
      else await exchange.open().write(frames(LOG))
    })
    expect(await collect(eagerClient(server).runs.events(RUN_ID))).toEqual(LOG)
    expect(server.exchanges.length).toBe(4)
  })

  it.each([
    [429, { 'retry-after': '20' }, undefined, 20_000],
    [503, { 'retry-after': '20' }, 15_500, 15_500],
    [503, { 'retry-after': '0' }, undefined, 250],
  ])(
    'A stream waits after %i as long as the server requests (%j)',
    async (status, headers, inBody, expected) => {
      const clock = recordingClock()
      await using server = await wireServer(async (exchange, index) => {
        const error = status === 429 ? 'RATE_LIMITED' : 'DRAINING'
        const body = { error, message: 'later', ...(inBody && { retryAfterMs: inBody }) }
        if (index === 0) exchange.json(status, body, headers)
        else await exchange.open().write(frames(LOG))
      })
      const reading = collect(eagerClient(server, clock).runs.events(RUN_ID))
      await clock.pass(expected)
      expect(await reading).toEqual(LOG)
      expect(clock.waiting).toEqual([])
    },
  )

  it('A stream waits longer after each attempt, and starts again after an event', async () => {
    const clock = recordingClock({ skipUpToMs: 10_000 })
    await using server = await wireServer(async (exchange, index) => {
      exchange.open()
      if (index === 4) await exchange.write(frame(LOG[0]!))
      if (index === 6) await exchange.write(frames(asked(LOG, exchange)))
      exchange.end()
    })
    await collect(eagerClient(server, clock).runs.events(RUN_ID))
    expect(clock.delays.filter((delay) => delay !== 45_000)).toEqual([
      250, 500, 1_000, 2_000, 250, 500,
    ])
  })

  it('A stream counts no failed attempt for a connection that stayed open for long', async () => {
    const clock = recordingClock()
    await using server = await wireServer(async (exchange, index) => {
      if (index === 0) exchange.drop()
      else if (index === 1) exchange.open()
      else await exchange.open().write(frames(LOG))
    })
    const states: ConnectionState[] = []
    const events = eagerClient(server, clock).runs.events(RUN_ID, {
      onConnection(state) {
        states.push(state)
        if (state.status === 'open' && server.exchanges.length === 2) {
          void clock.advance(10_000).then(() => server.exchanges[1]?.drop())
        }
      },
    })
    const reading = collect(events)
    await clock.pass(250)
    await clock.pass(250)
    expect(await reading).toEqual(LOG)
    expect(states.map(({ status, attempt }) => [status, attempt])).toEqual([
      ['reconnecting', 1],
      ['open', 1],
      ['reconnecting', 1],
      ['open', 1],
      ['closed', 0],
    ])
  })

  it('A stream fails after maxRetries attempts without an event', async () => {
    await using server = await wireServer((exchange) => {
      exchange.answer(502, 'Bad Gateway')
    })
    const client = createClient({
      baseUrl: server.url,
      clock: recordingClock({ skipUpToMs: 10_000 }),
      reconnect: { maxRetries: 2 },
    })
    await expect(collect(client.runs.events(RUN_ID))).rejects.toMatchObject({
      code: 'BAD_RESPONSE',
      status: 502,
    })
    expect(server.exchanges.length).toBe(3)
  })

  it('A stream does not retry with maxRetries 0', async () => {
    await using server = await wireServer((exchange) => {
      exchange.drop()
    })
    const client = createClient({ baseUrl: server.url, reconnect: { maxRetries: 0 } })
    await expect(client.runs.result(RUN_ID)).rejects.toMatchObject({ code: 'CONNECTION_FAILED' })
    expect(server.exchanges.length).toBe(1)
  })

  it('A stream continues after a restart of the server', async () => {
    const clock = recordingClock()
    const before = await wireServer(async (exchange) => {
      await exchange.open().write(frames(LOG.slice(0, 2)))
    })
    const events = eagerClient(before, clock).runs.events(RUN_ID)[Symbol.asyncIterator]()
    const got = [await events.next(), await events.next()]
    await before[Symbol.asyncDispose]()

    const third = events.next()
    await clock.pass(250)
    // The server is closed now: this attempt and the next one are refused.
    await clock.pass(500)
    await clock.timer(1_000)
    await using after = await wireServer(async (exchange) => {
      await exchange.open().write(frames(asked(LOG, exchange)))
    }, before.port)
    await clock.pass(1_000)
    got.push(await third, await events.next(), await events.next())
    expect(got.map(({ value }) => value)).toEqual(LOG)
    expect(await events.next()).toEqual({ done: true, value: undefined })
    expect(after.exchanges[0]?.lastEventId).toBe('run-1:1')
  })
})
