/** Lost connections: wherever one is cut, the reader receives every event once, in order, and no error. */
import { describe, expect, it } from 'vitest'

import { createClient, type ConnectionState, type TuttiClient } from '../src/index.ts'
import { recordingClock } from './recording-clock.ts'
import { asked, collect, ENDED, EVENTS_PATH, frame, frames, LOG, RUN_ID } from './sample-run.ts'
import { wireServer, type WireServer } from './wire-server.ts'

/** A client that reconnects without a delay. */
function eagerClient({ url }: WireServer): TuttiClient {
  const clock = recordingClock({ skipUpToMs: 10_000 })
  return createClient({ baseUrl: url, clock, random: () => 1 })
}

/** Request for all events. */
const ALL_EVENTS = `${EVENTS_PATH}?repeats=omit`

const WHOLE = Buffer.from(`: events follow\n\n${frames(LOG)}`)

describe('[CLIENT-R1] a stream returns every event once, in order', () => {
  it('A stream returns every event once, in order, over one connection', async () => {
    await using server = await wireServer(async (exchange) => {
      await exchange.open().write(WHOLE)
      exchange.end()
    })
    expect(await collect(eagerClient(server).runs.events(RUN_ID))).toEqual(LOG)
    expect(server.exchanges.map(({ url }) => url)).toEqual([ALL_EVENTS])
    expect(server.exchanges[0]?.headers.accept).toBe('text/event-stream')
    expect(server.exchanges[0]?.headers).not.toHaveProperty('last-event-id')
  })

  it.each(LOG.slice(0, -1).map(({ seq }) => seq))(
    'A stream returns every event once, in order, if the connection is cut after the client received event %i',
    async (seq) => {
      await using server = await wireServer(async (exchange, index) => {
        const rest = asked(LOG, exchange)
        const sent = index === 0 ? rest.filter((event) => event.seq <= seq) : rest
        await exchange.open().write(frames(sent))
      })
      const got = []
      for await (const event of eagerClient(server).runs.events(RUN_ID)) {
        got.push(event)
        if (event.seq === seq) server.exchanges[0]?.drop()
      }
      expect(got).toEqual(LOG)
      expect(server.exchanges.map(({ lastEventId }) => lastEventId)).toEqual([
        undefined,
        `${RUN_ID}:${seq}`,
      ])
    },
  )

  it('A stream returns every event once, in order, if the server closes the connection after each event', async () => {
    await using server = await wireServer(async (exchange) => {
      await exchange.open().write(frames(asked(LOG, exchange).slice(0, 1)))
      exchange.end()
    })
    expect(await collect(eagerClient(server).runs.events(RUN_ID))).toEqual(LOG)
    expect(server.exchanges.map(({ url, lastEventId }) => [url, lastEventId])).toEqual([
      [ALL_EVENTS, undefined],
      [ALL_EVENTS, 'run-1:0'],
      [ALL_EVENTS, 'run-1:1'],
      [ALL_EVENTS, 'run-1:2'],
      [ALL_EVENTS, 'run-1:3'],
    ])
  })

  it('A stream returns every event once, in order, if the connection is cut anywhere in a frame, also within a character', async () => {
    let cut = 0
    await using server = await wireServer(async (exchange) => {
      const isFirst = exchange.lastEventId === undefined && exchange.query.get('from') === null
      const bytes = Buffer.from(frames(asked(LOG, exchange)))
      await exchange.open().write(isFirst && cut > 0 ? bytes.subarray(0, cut) : bytes)
      if (cut > 0) {
        // Only once: the next connection receives everything.
        cut = 0
        exchange.drop()
      }
    })
    const { runs } = eagerClient(server)
    for (let at = 1; at < WHOLE.length; at += 7) {
      cut = at
      const events = await collect(runs.events(RUN_ID))
      expect(events, `cut after ${at} bytes`).toEqual(LOG)
    }
  })
})

describe('[CLIENT-K3] the cursor', () => {
  it('The cursor of a stream keeps the position of the caller if the stream drops before the first event', async () => {
    await using server = await wireServer(async (exchange, index) => {
      if (index === 0) {
        exchange.drop()
      } else if (index === 1) {
        await exchange.open().write(': events follow\n\n')
        exchange.drop()
      } else {
        await exchange.open().write(frames(asked(LOG, exchange)))
      }
    })
    const events = await collect(eagerClient(server).runs.events(RUN_ID, { from: 3 }))
    expect(events).toEqual(LOG.slice(3))
    expect(server.exchanges.map(({ url, lastEventId }) => [url, lastEventId])).toEqual([
      [`${EVENTS_PATH}?from=3&repeats=omit`, undefined],
      [`${EVENTS_PATH}?from=3&repeats=omit`, undefined],
      [`${EVENTS_PATH}?from=3&repeats=omit`, undefined],
    ])
  })

  it('The cursor of a stream keeps the position after the last event if a resumed stream drops before its first one', async () => {
    await using server = await wireServer(async (exchange, index) => {
      const rest = asked(LOG, exchange)
      const count = [2, 0, 0][index] ?? rest.length
      await exchange.open().write(`: events follow\n\n${frames(rest.slice(0, count))}`)
      exchange.end()
    })
    expect(await collect(eagerClient(server).runs.events(RUN_ID, { from: 1 }))).toEqual(
      LOG.slice(1),
    )
    expect(server.exchanges.map(({ url, lastEventId }) => [url, lastEventId])).toEqual([
      [`${EVENTS_PATH}?from=1&repeats=omit`, undefined],
      [ALL_EVENTS, 'run-1:2'],
      [ALL_EVENTS, 'run-1:2'],
      [ALL_EVENTS, 'run-1:2'],
    ])
  })

  it('The cursor of a stream is read from the event if a frame has no id', async () => {
    await using server = await wireServer(async (exchange) => {
      const [next] = asked(LOG, exchange)
      await exchange.open().write(`data: ${JSON.stringify(next)}\n\n`)
      exchange.end()
    })
    expect(await collect(eagerClient(server).runs.events(RUN_ID))).toEqual(LOG)
  })

  it('The cursor of a stream counts from the end', async () => {
    await using server = await wireServer(async (exchange, index) => {
      if (index > 0) await exchange.open().write(frames(asked(LOG, exchange)))
      exchange.drop()
    })
    const events = await collect(eagerClient(server).runs.events(RUN_ID, { from: -2 }))
    expect(events).toEqual(LOG.slice(-2))
    expect(server.exchanges.map(({ url }) => url)).toEqual([
      `${EVENTS_PATH}?from=-2&repeats=omit`,
      `${EVENTS_PATH}?from=-2&repeats=omit`,
    ])
  })

  it('The cursor of a stream keeps the path of the base address', async () => {
    await using server = await wireServer(async (exchange) => {
      await exchange.open().write(frames(LOG))
    })
    const client = createClient({ baseUrl: `${server.url}/tutti` })
    expect(await collect(client.runs.events(RUN_ID))).toEqual(LOG)
    expect(server.exchanges[0]?.url).toBe(`/tutti${ALL_EVENTS}`)
  })
})

describe('[CLIENT-R2] the end of a stream', () => {
  it('The end of a stream is found by a request for the last event, even if it is filtered out', async () => {
    await using server = await wireServer(async (exchange) => {
      await exchange.open().write(frames(asked(LOG, exchange)))
      exchange.end()
    })
    const events = eagerClient(server).runs.events(RUN_ID, { events: ['token'] })
    expect(await collect(events)).toEqual(LOG.slice(1, 4))
    expect(server.exchanges.map(({ query }) => query.get('events'))).toEqual(['token,run_result'])
  })

  it('The last event is requested once if it is not filtered out', async () => {
    await using server = await wireServer(async (exchange) => {
      await exchange.open().write(frames(asked(LOG, exchange)))
      exchange.end()
    })
    const events = eagerClient(server).runs.events(RUN_ID, { events: ['run_result', 'run_result'] })
    expect(await collect(events)).toEqual(LOG.slice(-1))
    expect(server.exchanges.map(({ query }) => query.get('events'))).toEqual(['run_result'])
  })

  it('A resumed stream keeps its filter', async () => {
    await using server = await wireServer(async (exchange) => {
      await exchange.open().write(frames(asked(LOG, exchange).slice(0, 1)))
      exchange.end()
    })
    const events = eagerClient(server).runs.events(RUN_ID, { events: ['token'], from: 2 })
    expect(await collect(events)).toEqual(LOG.slice(2, 4))
    expect(server.exchanges.map(({ url, lastEventId }) => [url, lastEventId])).toEqual([
      [`${EVENTS_PATH}?from=2&events=token%2Crun_result&repeats=omit`, undefined],
      [`${EVENTS_PATH}?events=token%2Crun_result&repeats=omit`, 'run-1:2'],
      [`${EVENTS_PATH}?events=token%2Crun_result&repeats=omit`, 'run-1:3'],
    ])
  })

  it('The end of a stream is reached with 204, on the first or a later connection', async () => {
    await using server = await wireServer((exchange, index) => {
      if (index === 0) exchange.drop()
      else exchange.answer(204, '')
    })
    const states: ConnectionState[] = []
    const events = eagerClient(server).runs.events(RUN_ID, {
      from: 5,
      onConnection: (state) => states.push(state),
    })
    expect(await collect(events)).toEqual([])
    expect(server.exchanges.length).toBe(2)
    expect(states.map(({ status }) => status)).toEqual(['reconnecting', 'closed'])
  })

  it('The end of a stream closes the connection even if the server does not', async () => {
    await using server = await wireServer(async (exchange) => {
      await exchange.open().write(frames(LOG))
    })
    expect(await collect(eagerClient(server).runs.events(RUN_ID))).toEqual(LOG)
    await server.exchanges[0]?.closed
  })

  it('The end of a stream allows another loop with a separate connection', async () => {
    await using server = await wireServer(async (exchange) => {
      await exchange.open().write(frames(LOG))
    })
    const events = eagerClient(server).runs.events(RUN_ID)
    expect(server.exchanges.length).toBe(0)
    expect(await Promise.all([collect(events), collect(events)])).toEqual([LOG, LOG])
    expect(server.exchanges.length).toBe(2)
  })
})

describe('result', () => {
  it('`result` requests the last event from the end, and returns the run that has ended', async () => {
    await using server = await wireServer(async (exchange, index) => {
      if (exchange.url === '/api/runs/run-1') {
        exchange.json(200, ENDED)
        return
      }
      await exchange.open().write(index === 0 ? '' : frames(asked(LOG, exchange)))
      exchange.end()
    })
    await expect(eagerClient(server).runs.result(RUN_ID)).resolves.toEqual({
      ...ENDED,
      outputs: [{ taskName: 'write', output: 'Grüße, 世界 🎻' }],
    })
    expect(server.exchanges.map(({ url }) => url)).toEqual([
      `${EVENTS_PATH}?from=-1&events=run_result&repeats=omit`,
      `${EVENTS_PATH}?from=-1&events=run_result&repeats=omit`,
      '/api/runs/run-1',
    ])
    await server.exchanges[1]?.closed
  })

  it('`result` fails for a log without a result', async () => {
    await using server = await wireServer((exchange) => {
      exchange.answer(204, '')
    })
    await expect(eagerClient(server).runs.result(RUN_ID)).rejects.toMatchObject({
      code: 'BAD_RESPONSE',
    })
  })

  it('`result` can be aborted', async () => {
    await using server = await wireServer((exchange) => {
      exchange.open()
    })
    const caller = new AbortController()
    const result = eagerClient(server).runs.result(RUN_ID, {
      signal: caller.signal,
      onConnection() {
        caller.abort()
      },
    })
    await expect(result).rejects.toMatchObject({ code: 'ABORTED' })
    await server.exchanges[0]?.closed
  })
})

describe('onConnection', () => {
  it('onConnection reports that the stream opens, reconnects after the last event, and closes', async () => {
    await using server = await wireServer(async (exchange, index) => {
      if (index === 1) exchange.answer(503, 'Starting')
      else await exchange.open().write(frames(asked(LOG, exchange).slice(0, index === 0 ? 2 : 9)))
      if (index === 0) exchange.end()
    })
    const states: ConnectionState[] = []
    await collect(
      eagerClient(server).runs.events(RUN_ID, { onConnection: (state) => states.push(state) }),
    )
    expect(states).toEqual([
      { status: 'open', attempt: 0 },
      {
        status: 'reconnecting',
        attempt: 1,
        delayMs: 250,
        lastEventId: 'run-1:1',
        error: expect.objectContaining({ code: 'CONNECTION_FAILED' }),
      },
      {
        status: 'reconnecting',
        attempt: 2,
        delayMs: 500,
        lastEventId: 'run-1:1',
        error: expect.objectContaining({ code: 'BAD_RESPONSE', status: 503 }),
      },
      { status: 'open', attempt: 2, lastEventId: 'run-1:1' },
      { status: 'closed', attempt: 0, lastEventId: 'run-1:4' },
    ])
  })

  it('onConnection ends the stream if it throws', async () => {
    await using server = await wireServer(async (exchange) => {
      await exchange.open().write(frame(LOG[0]!))
    })
    const events = eagerClient(server).runs.events(RUN_ID, {
      onConnection({ status }) {
        if (status === 'open') throw new Error('a bug of the listener')
      },
    })
    await expect(collect(events)).rejects.toThrow('a bug of the listener')
    await server.exchanges[0]?.closed
  })
})
