import { Writable } from 'node:stream'

import { fakeClock } from '@tutti/testing'
import { PageCache } from '@tutti/runs/internal'
import { describe, expect, it } from 'vitest'

import { encodeEventBytes, runEventsEncoder, writeEvents } from './event-stream.ts'

import type { EventEncoder, EventStreamParts } from './event-stream.ts'
import type { LoggedRunEvent } from '@tutti/protocol'

const SILENCE_MS = 15_000

describe('runEventsEncoder', () => {
  it('[RUNS-F9] runEventsEncoder encodes a shared page once, as the same frames as an unshared page', async () => {
    const events = [event(0, 'a\u2028é'), event(1, '🎻')]
    const pages = new PageCache(
      { read: async () => ({ events: [...events], lastSeq: 2 }) },
      fakeClock(),
    )
    const read = async (): Promise<readonly LoggedRunEvent[]> =>
      (await pages.read({ runId: 'r', from: 0, limit: 2 })).events
    const encoder = (wants = true) =>
      runEventsEncoder({
        wants: (type) => wants || type === 'run_result',
        onError: () => undefined,
      })
    const own = await framesOf(encoder(), await read())
    const shared = await read()
    const bytes = encoder().encode(shared)
    expect(bytes).toBeInstanceOf(Uint8Array)
    expect(encoder().encode(await read())).toBe(bytes)
    expect(await framesOf(encoder(), shared)).toBe(own)
    expect(own).toContain(String.raw`a\u2028é`)
    expect(encoder(false).encode(shared)).toBe('')
  })
})

/** Returns what a connection gets of one batch. */
async function framesOf(encoder: EventEncoder, batch: readonly LoggedRunEvent[]): Promise<string> {
  async function* batches(): AsyncGenerator<readonly LoggedRunEvent[]> {
    yield batch
  }
  const sink = new Connection()
  write(sink, { batches: batches(), encoder })
  return sink.ended
}

describe('writeEvents', () => {
  it('writeEvents ends with the text that the encoder returns for an error', async () => {
    async function* broken(): AsyncGenerator<readonly LoggedRunEvent[]> {
      yield [event(0, 'a')]
      throw new Error('The log is away')
    }
    const sink = new Connection()
    write(sink, {
      batches: broken(),
      encoder: { ...plain, fail: (error) => `failed: ${String(error)}\n` },
    })
    expect(await sink.ended).toBe('head\na\nfailed: Error: The log is away\n')
  })

  it('writeEvents ends when the encoder is done, and reads no more events', async () => {
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
    const sink = new Connection()
    write(sink, { batches: endless(), encoder })
    expect(await sink.ended).toBe('head\n0\n')
    expect(taken).toEqual([0])
  })

  it('writeEvents escapes the line breaks of Unicode, which are the end of a line for some readers', async () => {
    const text = 'a\u2028b\u2029c\u0085d'
    const { sink, give } = openStream()
    await sink.next()
    give(event(0, text))
    const frame = await sink.next()
    // oxlint-disable-next-line no-control-regex -- the characters at which clients split lines
    const lines = frame.split(/\r\n|[\n\v\f\r\u001C-\u001E\u0085\u2028\u2029]/)
    expect(lines).toHaveLength(5)
    expect(JSON.parse(lines[2]?.slice('data: '.length) ?? '')).toMatchObject({ token: text })
  })

  it('writeEvents writes an event with its id, its type and its JSON', async () => {
    const { sink, give } = openStream()
    expect(await sink.next()).toBe(': events follow\n\n')
    give(event(0, 'a\nb'))
    const [id, type, data, ...rest] = (await sink.next()).split('\n')
    expect([id, type, rest]).toEqual(['id: run-a:0', 'event: token', ['', '']])
    expect(JSON.parse(data?.slice('data: '.length) ?? '')).toMatchObject({ token: 'a\nb', seq: 0 })
  })

  it('writeEvents sends a heartbeat after a silence, also when only unwanted events arrive', async () => {
    const { sink, give, clock } = openStream(() => false)
    await sink.next()
    for (let waited = 0; waited < SILENCE_MS; waited += 5_000) {
      give(event(waited, 'unwanted'))
      await clock.advance(5_000)
    }
    expect(await sink.next()).toBe(': still here\n\n')
  })

  it('writeEvents sends the next heartbeat a whole silence after the last event', async () => {
    const { sink, give, clock } = openStream()
    await sink.next()
    await clock.advance(SILENCE_MS - 1)
    give(event(0, 'a'))
    expect(await sink.next()).toContain('id: run-a:0')
    await clock.advance(SILENCE_MS - 1)
    expect(sink.unread).toBe('')
    await clock.advance(1)
    expect(sink.unread).toBe(': still here\n\n')
  })

  it('writeEvents reads no further events and sends no heartbeat while the connection accepts no data', async () => {
    let taken = 0
    async function* endless(): AsyncGenerator<readonly LoggedRunEvent[]> {
      for (let seq = 0; ; seq += 1) {
        taken += 1
        yield [event(seq, `event ${seq}`)]
      }
    }
    const sink = new Connection({ isStalled: true })
    const clock = fakeClock()
    write(sink, { batches: endless(), encoder: plain, clock })
    await settle()
    await clock.advance(2 * SILENCE_MS)
    expect([taken, sink.unread]).toEqual([1, 'head\n'])
    for (const waiting of ['head', 'event']) {
      expect(taken, waiting).toBe(1)
      sink.accept()
      await settle()
    }
    expect(taken).toBe(2)
    sink.destroy()
  })

  it('writeEvents ends without an error when the events cannot be read, and reports the error', async () => {
    const errors: unknown[] = []
    const away = new Error('The log is away')
    async function* broken(): AsyncGenerator<readonly LoggedRunEvent[]> {
      yield [event(0, 'a')]
      throw away
    }
    const sink = new Connection()
    const encoder = runEventsEncoder({ wants: () => true, onError: (error) => errors.push(error) })
    write(sink, { batches: broken(), encoder })
    expect(await sink.ended).toMatch(/^: events follow\n\nid: run-a:0\n[^\0]*\n\n$/)
    expect(errors).toEqual([away])
  })

  it.each([
    ['the connection closes', (sink: Connection) => sink.destroy()],
    ['the stream is ended early', (_: Connection, end: () => void) => end()],
  ])('writeEvents closes the events and leaves no timer when %s', async (_, leave) => {
    let isOver = false
    const watched: string[] = []
    const watch = { begun: () => watched.push('begun'), over: () => watched.push('over') }
    async function* endless(): AsyncGenerator<readonly LoggedRunEvent[]> {
      try {
        for (let seq = 0; ; seq += 1) yield [event(seq, 'a')]
      } finally {
        isOver = true
      }
    }
    const sink = new Connection({ isStalled: true })
    const clock = fakeClock()
    const end = write(sink, { batches: endless(), encoder: plain, clock, watch })
    await settle()
    leave(sink, end)
    await settle()
    expect([isOver, clock.pending]).toEqual([true, 0])
    expect(watched).toEqual(['begun', 'over'])
  })

  it('writeEvents loses no event that arrives after a heartbeat', async () => {
    const { sink, give, clock } = openStream()
    await sink.next()
    await clock.advance(SILENCE_MS)
    expect(await sink.next()).toBe(': still here\n\n')
    give(event(7, 'x'))
    expect(await sink.next()).toContain('id: run-a:7\n')
  })

  it('writeEvents ends when the events end', async () => {
    const { sink, end, clock } = openStream()
    end()
    expect(await sink.ended).toBe(': events follow\n\n')
    expect(clock.pending).toBe(0)
  })
})

describe('encodeEventBytes', () => {
  it('encodeEventBytes encodes an event in UTF-8 once', () => {
    const one = event(1, 'cœur \u{1F3B5} "\n')
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

/** A connection that records the text written to it; a stalled one accepts one write at a time, on request. */
class Connection extends Writable {
  /** Resolves with the whole text when the stream has ended. */
  readonly ended: Promise<string>
  readonly #isStalled: boolean
  readonly #texts: string[] = []
  #read = 0
  #accepted: () => void = () => undefined
  #arrived: () => void = () => undefined

  constructor({ isStalled = false }: { readonly isStalled?: boolean } = {}) {
    super({ highWaterMark: isStalled ? 1 : 16_384, decodeStrings: false })
    this.#isStalled = isStalled
    this.ended = new Promise((resolve) => {
      this.on('finish', () => {
        resolve(this.#texts.join(''))
      })
    })
  }

  override _write(text: string, _: BufferEncoding, done: () => void): void {
    this.#texts.push(text)
    this.#arrived()
    if (this.#isStalled) this.#accepted = done
    else done()
  }

  /** Accepts the pending write. */
  accept(): void {
    this.#accepted()
  }

  /** Text that `next` has not returned. */
  get unread(): string {
    return this.#texts.slice(this.#read).join('')
  }

  /** Returns the next written text. */
  async next(): Promise<string> {
    while (this.#read === this.#texts.length) {
      await new Promise<void>((resolve) => {
        this.#arrived = resolve
      })
    }
    this.#read += 1
    return this.#texts[this.#read - 1] ?? ''
  }
}

type WrittenParts = Pick<EventStreamParts, 'batches' | 'encoder'> & Partial<EventStreamParts>

function write(sink: Connection, parts: WrittenParts): () => void {
  return writeEvents(sink, { clock: fakeClock(), heartbeatMs: SILENCE_MS, ...parts })
}

/** Lets pending callbacks run. */
async function settle(): Promise<void> {
  for (let pass = 0; pass < 3; pass += 1) await new Promise((resolve) => setImmediate(resolve))
}

function openStream(wants: () => boolean = () => true) {
  const clock = fakeClock()
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
  const sink = new Connection()
  const encoder = runEventsEncoder({ wants, onError: () => undefined })
  write(sink, { batches: source(), encoder, clock })
  return { sink, clock, give: (given: LoggedRunEvent) => add([given]), end: () => add(undefined) }
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
