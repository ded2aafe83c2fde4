import { fakeClock } from '@tutti/testing'
import { describe, expect, it } from 'vitest'

import { encodeEventBytes, encodeEventText, eventStream, runEventsEncoder } from './event-stream.ts'

import type { EventEncoder, EventStreamParts } from './event-stream.ts'
import type { LoggedRunEvent } from '@tutti/protocol'

const SILENCE_MS = 15_000

describe('eventStream', () => {
  it('ends with the text that the encoder returns for an error', async () => {
    async function* broken(): AsyncGenerator<readonly LoggedRunEvent[]> {
      yield [event(0, 'a')]
      throw new Error('The log is away')
    }
    const text = await textOf({
      batches: broken(),
      encoder: { ...plain, fail: (error) => `failed: ${String(error)}\n` },
    })
    expect(text).toBe('head\na\nfailed: Error: The log is away\n')
  })

  it('ends when the encoder is done, and reads no more events', async () => {
    const taken: number[] = []
    async function* endless(): AsyncGenerator<readonly LoggedRunEvent[]> {
      for (let seq = 0; ; seq += 1) {
        taken.push(seq)
        yield [event(seq, String(seq))]
      }
    }
    let isDone = false
    const encoder = {
      ...plain,
      get isDone() {
        return isDone
      },
      encode(events: readonly LoggedRunEvent[]) {
        isDone = true
        return plain.encode(events)
      },
    }
    expect(await textOf({ batches: endless(), encoder })).toBe('head\n0\n')
    expect(taken).toEqual([0])
  })

  it('writes an event with its id, its type and its JSON', async () => {
    const { reader, give } = streamOf(() => true)
    expect(await reader()).toBe(': events follow\n\n')
    give(event(0, 'a\nb'))
    const [id, type, data, ...rest] = ((await reader()) ?? '').split('\n')
    expect([id, type, rest]).toEqual(['id: run-a:0', 'event: token', ['', '']])
    expect(JSON.parse(data?.slice('data: '.length) ?? '')).toMatchObject({ token: 'a\nb', seq: 0 })
  })

  it('sends a heartbeat after a silence, also when only unwanted events arrive', async () => {
    const { reader, give, clock } = streamOf(() => false)
    await reader()
    const sign = reader()
    for (let waited = 0; waited < SILENCE_MS; waited += 5_000) {
      give(event(waited, 'unwanted'))
      await clock.advance(5_000)
    }
    expect(await sign).toBe(': still here\n\n')
  })

  it('ends without an error when the events cannot be read, and reports the error', async () => {
    const errors: unknown[] = []
    const away = new Error('The log is away')
    async function* broken(): AsyncGenerator<readonly LoggedRunEvent[]> {
      yield [event(0, 'a')]
      throw away
    }
    const stream = eventStream({
      batches: broken(),
      encoder: runEventsEncoder({ wants: () => true, onError: (error) => errors.push(error) }),
      stop: new AbortController(),
      clock: fakeClock(),
      heartbeatMs: SILENCE_MS,
    })
    const chunks: string[] = []
    for await (const chunk of stream) chunks.push(new TextDecoder().decode(chunk))
    expect(chunks).toEqual([': events follow\n\n', expect.stringContaining('id: run-a:0\n')])
    expect(errors).toEqual([away])
  })

  it('closes the events when the reader cancels, also while the source waits for it', async () => {
    let isOver = false
    async function* endless(): AsyncGenerator<readonly LoggedRunEvent[]> {
      try {
        for (let seq = 0; ; seq += 1) yield [event(seq, 'a')]
      } finally {
        isOver = true
      }
    }
    const stop = new AbortController()
    const stream = eventStream({
      batches: endless(),
      encoder: runEventsEncoder({ wants: () => true, onError: () => undefined }),
      stop,
      clock: fakeClock(),
      heartbeatMs: SILENCE_MS,
    })
    const reader = stream.getReader()
    await reader.read()
    await reader.read()
    await reader.cancel()
    await new Promise((resolve) => setImmediate(resolve))
    expect([isOver, stop.signal.aborted]).toEqual([true, true])
  })

  it('loses no event that arrives after a heartbeat', async () => {
    const { reader, give, clock } = streamOf(() => true)
    await reader()
    const sign = reader()
    await clock.advance(SILENCE_MS)
    expect(await sign).toBe(': still here\n\n')
    give(event(7, 'x'))
    expect(await reader()).toContain('id: run-a:7\n')
  })

  it('ends when the events end', async () => {
    const { reader, end, clock } = streamOf(() => true)
    await reader()
    end()
    expect(await reader()).toBeUndefined()
    expect(clock.pending).toBe(0)
  })

  it('stops reading when the reader cancels', async () => {
    const { stream, stop } = streamOf(() => true)
    await stream.cancel()
    expect(stop.signal.aborted).toBe(true)
  })
})

describe('encodeEventText', () => {
  it('encodes an event once, as text and as UTF-8', () => {
    const one = event(1, 'cœur \u{1F3B5} "\n')
    expect(JSON.parse(encodeEventText(one))).toEqual(one)
    expect(JSON.parse(encodeEventBytes(one).toString('utf8'))).toEqual(one)
    expect(encodeEventBytes(one)).toBe(encodeEventBytes(one))
    expect(encodeEventBytes({ ...one, seq: 2 })).not.toEqual(encodeEventBytes(one))
  })
})

/** Encodes the text of tokens, one per line. */
const plain: EventEncoder = {
  head: 'head\n',
  keepAlive: '\n',
  encode: (events) => events.map((one) => ('token' in one ? `${one.token}\n` : '')).join(''),
  fail: () => '',
}

async function textOf(parts: Pick<EventStreamParts, 'batches' | 'encoder'>): Promise<string> {
  const stop = new AbortController()
  const stream = eventStream({ ...parts, stop, clock: fakeClock(), heartbeatMs: SILENCE_MS })
  return new Response(stream).text()
}

function streamOf(wants: () => boolean) {
  const clock = fakeClock()
  const stop = new AbortController()
  const batches: (readonly LoggedRunEvent[] | undefined)[] = []
  let wake = (): void => undefined
  async function* source(): AsyncGenerator<readonly LoggedRunEvent[]> {
    for (;;) {
      while (batches.length === 0) await new Promise<void>((resolve) => (wake = resolve))
      const batch = batches.shift()
      if (batch === undefined) return
      yield batch
    }
  }
  const add = (batch: readonly LoggedRunEvent[] | undefined): void => {
    batches.push(batch)
    wake()
  }
  const parts = {
    batches: source(),
    encoder: runEventsEncoder({ wants, onError: () => undefined }),
    stop,
    clock,
    heartbeatMs: SILENCE_MS,
  }
  const stream = eventStream(parts)
  let opened: ReadableStreamDefaultReader<Uint8Array> | undefined
  const reader = async (): Promise<string | undefined> => {
    opened ??= stream.getReader()
    const { value } = await opened.read()
    return value === undefined ? undefined : new TextDecoder().decode(value)
  }
  const give = (given: LoggedRunEvent): void => add([given])
  return { stream, reader, stop, clock, give, end: () => add(undefined) }
}

function event(seq: number, token: string): LoggedRunEvent {
  return {
    type: 'token',
    token,
    taskIndex: 1,
    taskName: 'play',
    taskDescription: 'Play',
    agentRole: 'Player',
    attempt: 1,
    iterationIndex: 0,
    sentAt: '2026-01-01T00:00:00.000Z',
    runId: 'run-a',
    seq,
    id: `run-a:${seq}`,
  }
}
