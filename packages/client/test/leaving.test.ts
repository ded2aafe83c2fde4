/** [CLIENT-R4, CLIENT-R5] Ways to stop reading a stream: each one closes the connection and leaves no timer or listener. */
import { getEventListeners } from 'node:events'

import { afterEach, beforeEach, describe, expect, it } from 'vitest'

import { createClient, type ConnectionState } from '../src/index.ts'
import { recordingClock, type RecordingClock } from './recording-clock.ts'
import { collect, frame, frames, LOG, RUN_ID } from './sample-run.ts'
import { wireServer } from './wire-server.ts'

let clock: RecordingClock
let caller: AbortController

beforeEach(() => {
  clock = recordingClock()
  caller = new AbortController()
})

afterEach(assertNothingLeft)

function assertNothingLeft(): void {
  expect(clock.waiting).toEqual([])
  expect(getEventListeners(caller.signal, 'abort')).toEqual([])
}

describe('an abort', () => {
  it('An abort of a stream before the first event is requested opens no connection', async () => {
    await using server = await wireServer(() => undefined)
    const { runs } = createClient({ baseUrl: server.url, clock })
    const events = runs.events(RUN_ID, { signal: AbortSignal.abort('late') })
    await expect(collect(events)).rejects.toMatchObject({ code: 'ABORTED', cause: 'late' })
    expect(server.exchanges).toEqual([])
  })

  it('An abort of a stream ends an attempt to connect', async () => {
    await using server = await wireServer(() => undefined)
    const { runs } = createClient({ baseUrl: server.url, clock })
    const reading = collect(runs.events(RUN_ID, { signal: caller.signal }))
    const { closed } = await server.exchange(0)
    caller.abort()
    await expect(reading).rejects.toMatchObject({ code: 'ABORTED' })
    await closed
  })

  it('An abort of a stream ends the wait for an event', async () => {
    await using server = await wireServer(async (exchange) => {
      await exchange.open().write(frame(LOG[0]!))
    })
    const states: ConnectionState[] = []
    const { runs } = createClient({ baseUrl: server.url, clock })
    const options = { signal: caller.signal, onConnection: recordIn(states) }
    const events = runs.events(RUN_ID, options)[Symbol.asyncIterator]()
    await events.next()
    const second = events.next()
    caller.abort()
    await expect(second).rejects.toMatchObject({ code: 'ABORTED' })
    expect(await events.next()).toEqual({ done: true, value: undefined })
    expect(states.at(-1)).toMatchObject({ status: 'closed', error: { code: 'ABORTED' } })
    await server.exchanges[0]?.closed
  })

  it('An abort of a stream ends the loop while its body runs, even if more events have arrived', async () => {
    await using server = await wireServer(async (exchange) => {
      await exchange.open().write(frames(LOG))
    })
    const got: number[] = []
    const { runs } = createClient({ baseUrl: server.url, clock })
    const reading = (async () => {
      for await (const { seq } of runs.events(RUN_ID, { signal: caller.signal })) {
        got.push(seq)
        if (seq === 1) caller.abort()
      }
    })()
    await expect(reading).rejects.toMatchObject({ code: 'ABORTED' })
    expect(got).toEqual([0, 1])
    await server.exchanges[0]?.closed
  })

  it('An abort of a stream ends the wait for the next attempt', async () => {
    await using server = await wireServer((exchange) => {
      exchange.answer(503, '')
    })
    const { runs } = createClient({ baseUrl: server.url, clock })
    const events = runs.events(RUN_ID, {
      signal: caller.signal,
      onConnection({ status }) {
        if (status === 'reconnecting') setImmediate(() => caller.abort())
      },
    })
    await expect(collect(events)).rejects.toMatchObject({ code: 'ABORTED' })
    expect(server.exchanges.length).toBe(1)
  })

  it('An abort of a stream after the end changes nothing', async () => {
    await using server = await wireServer(async (exchange) => {
      await exchange.open().write(frames(LOG))
    })
    const { runs } = createClient({ baseUrl: server.url, clock })
    expect(await collect(runs.events(RUN_ID, { signal: caller.signal }))).toEqual(LOG)
    assertNothingLeft()
    caller.abort()
  })

  it('An abort of many streams at once leaves no unhandled rejection', async () => {
    await using server = await wireServer(async (exchange, index) => {
      if (index % 3 === 0) await exchange.open().write(frame(LOG[0]!))
      if (index % 3 === 1) exchange.open()
    })
    const { runs } = createClient({ baseUrl: server.url, clock })
    const reading = Array.from({ length: 30 }, () =>
      collect(runs.events(RUN_ID, { signal: caller.signal })),
    )
    await server.exchange(29)
    caller.abort()
    const outcomes = await Promise.allSettled(reading)
    expect(outcomes.every(({ status }) => status === 'rejected')).toBe(true)
    await Promise.all(server.exchanges.map(({ closed }) => closed))
  })
})

describe('a reader that stops', () => {
  it('A reader that stops with break closes the connection and receives a notification', async () => {
    await using server = await wireServer(async (exchange) => {
      await exchange.open().write(frames(LOG.slice(0, 2)))
    })
    const states: ConnectionState[] = []
    const { runs } = createClient({ baseUrl: server.url, clock })
    const onConnection = recordIn(states)
    for await (const { seq } of runs.events(RUN_ID, { signal: caller.signal, onConnection })) {
      if (seq === 1) break
    }
    await server.exchanges[0]?.closed
    expect(states).toEqual([
      { status: 'open', attempt: 0 },
      { status: 'closed', attempt: 0, lastEventId: 'run-1:1' },
    ])
  })

  it('A reader that stops with an error throws that error', async () => {
    await using server = await wireServer(async (exchange) => {
      await exchange.open().write(frames(LOG.slice(0, 2)))
    })
    const { runs } = createClient({ baseUrl: server.url, clock })
    const reading = (async () => {
      for await (const _ of runs.events(RUN_ID)) throw new Error('a bug of the reader')
    })()
    await expect(reading).rejects.toThrow('a bug of the reader')
    await server.exchanges[0]?.closed
    expect(server.exchanges.length).toBe(1)
  })

  it('A reader that stops while it waits for an event ends the wait', async () => {
    await using server = await wireServer((exchange) => {
      exchange.open()
    })
    const { runs } = createClient({ baseUrl: server.url, clock })
    const events = runs.events(RUN_ID, { signal: caller.signal })[Symbol.asyncIterator]()
    const first = events.next()
    const { closed } = await server.exchange(0)
    expect(await events.return?.()).toEqual({ done: true, value: undefined })
    expect(await first).toEqual({ done: true, value: undefined })
    await closed
  })

  it('A reader that stops while it waits for the next attempt ends the wait', async () => {
    await using server = await wireServer((exchange) => {
      exchange.answer(500, '')
    })
    const { runs } = createClient({ baseUrl: server.url, clock, random: () => 1 })
    const options = { signal: caller.signal }
    const events = runs.events(RUN_ID, options)[Symbol.asyncIterator]()
    const first = events.next()
    await clock.timer(250)
    expect(await events.return?.()).toEqual({ done: true, value: undefined })
    expect(await first).toEqual({ done: true, value: undefined })
    expect(server.exchanges.length).toBe(1)
  })

  it('A reader that stops after the last event leaves no connection', async () => {
    await using server = await wireServer(async (exchange) => {
      await exchange.open().write(frames(LOG))
    })
    const { runs } = createClient({ baseUrl: server.url, clock })
    const events = runs.events(RUN_ID)[Symbol.asyncIterator]()
    for (const event of LOG) expect((await events.next()).value).toEqual(event)
    await server.exchanges[0]?.closed
  })

  it('A reader that stops before the first event opens no connection', async () => {
    await using server = await wireServer(() => undefined)
    const { runs } = createClient({ baseUrl: server.url, clock })
    const events = runs.events(RUN_ID, { signal: caller.signal })[Symbol.asyncIterator]()
    await events.return?.()
    expect(await events.next()).toEqual({ done: true, value: undefined })
    expect(server.exchanges).toEqual([])
  })
})

function recordIn(states: ConnectionState[]): (state: ConnectionState) => void {
  return (state) => {
    states.push(state)
  }
}
