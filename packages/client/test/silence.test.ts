/** The idle limit: a connection without data is dead, a connection that sends only comments is not. */
import { describe, expect, it } from 'vitest'

import { createClient, type ConnectionState } from '../src/index.ts'
import { until } from '../../../tooling/test-kit/wait.ts'
import { recordingClock } from './recording-clock.ts'
import { asked, collect, frame, frames, LOG, RUN_ID } from './sample-run.ts'
import { wireServer } from './wire-server.ts'

const random = (): number => 1

describe('a silent connection', () => {
  it('A silent connection is replaced after 45 s, and the stream resumed', async () => {
    const clock = recordingClock()
    await using server = await wireServer(async (exchange, index) => {
      const rest = asked(LOG, exchange)
      await exchange.open().write(frames(index === 0 ? rest.slice(0, 2) : rest))
    })
    const states: ConnectionState[] = []
    const client = createClient({ baseUrl: server.url, clock, random })
    const events = client.runs.events(RUN_ID, { onConnection: (state) => states.push(state) })
    const iterator = events[Symbol.asyncIterator]()
    const got = [await iterator.next(), await iterator.next()]

    const third = iterator.next()
    await clock.pass(45_000)
    await server.exchanges[0]?.closed
    await clock.pass(250)
    got.push(await third, await iterator.next(), await iterator.next())
    expect(got.map(({ value }) => value)).toEqual(LOG)
    expect(states[1]).toMatchObject({
      status: 'reconnecting',
      error: { code: 'TIMED_OUT', message: 'No data for 45000 ms' },
    })
    await iterator.next()
    expect(clock.waiting).toEqual([])
  })

  it('A silent connection stays open while comments arrive', async () => {
    const clock = recordingClock()
    await using server = await wireServer((exchange) => {
      exchange.open()
    })
    let comments = 0
    const fetch = async (url: string, init: RequestInit): Promise<Response> => {
      const response = await globalThis.fetch(url, init)
      const seen = new TransformStream<Uint8Array, Uint8Array>({
        transform(chunk, controller) {
          comments += 1
          controller.enqueue(chunk)
        },
      })
      return new Response(response.body?.pipeThrough(seen), response)
    }
    const client = createClient({ baseUrl: server.url, clock, random, fetch })
    const reading = collect(client.runs.events(RUN_ID))
    const exchange = await server.exchange(0)
    for (let heartbeat = 1; heartbeat <= 10; heartbeat += 1) {
      await exchange.write(': still here\n\n')
      await until('the heartbeat', () => comments === heartbeat)
      await clock.advance(44_999)
    }
    await exchange.write(frames(LOG))
    expect(await reading).toEqual(LOG)
    expect(server.exchanges.length).toBe(1)
  })

  it('A silent connection is replaced even if the server has not answered', async () => {
    const clock = recordingClock()
    await using server = await wireServer(async (exchange, index) => {
      if (index > 0) await exchange.open().write(frames(LOG))
    })
    const reading = collect(
      createClient({ baseUrl: server.url, clock, random }).runs.events(RUN_ID),
    )
    const { closed } = await server.exchange(0)
    await clock.pass(45_000)
    await closed
    await clock.pass(250)
    expect(await reading).toEqual(LOG)
  })

  it('A silent connection stays open without a limit', async () => {
    const clock = recordingClock()
    await using server = await wireServer(async (exchange) => {
      await exchange.open().write(frames(LOG))
    })
    const reconnect = { idleTimeoutMs: Infinity }
    const client = createClient({ baseUrl: server.url, clock, reconnect })
    expect(await collect(client.runs.events(RUN_ID))).toEqual(LOG)
    expect(clock.delays).toEqual([])
  })

  it('A silent connection stays open while the reader is slow', async () => {
    const clock = recordingClock()
    await using server = await wireServer(async (exchange) => {
      exchange.open()
      for (const event of LOG) await exchange.write(frame(event))
    })
    const got = []
    const client = createClient({ baseUrl: server.url, clock })
    for await (const event of client.runs.events(RUN_ID)) {
      got.push(event)
      await clock.advance(600_000)
    }
    expect(got).toEqual(LOG)
    expect(server.exchanges.length).toBe(1)
  })
})
