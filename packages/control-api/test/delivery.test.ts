/** Every reader of a run gets the same events, wherever it starts, disconnects and resumes. */
import { describe, expect, it } from 'vitest'

import { openLongRunServer, STORES, type LongRunServer } from './long-run-server.ts'
import { eventsOf, frames, type Socket } from './open-server.ts'

import type { LoggedRunEvent } from '@tutti/protocol'

const KINDS = Object.keys(STORES) as (keyof typeof STORES)[]

/** Resolves when an event of the run meets a condition. */
async function waitForEvent(
  api: LongRunServer,
  runId: string,
  is: (event: LoggedRunEvent) => boolean,
): Promise<void> {
  for await (const batch of api.runs.follow({ runId, from: 0 })) if (batch.some(is)) return
}

/** Resolves when the run waits in its middle. */
const waitForMiddle = (api: LongRunServer, runId: string): Promise<void> =>
  waitForEvent(api, runId, (event) => event.type === 'metrics_snapshot' && event.taskName === 't3')

/** Returns the events of a run that a socket gets from `from` to its end. */
async function overSocket(
  api: LongRunServer,
  runId: string,
  from: number,
): Promise<readonly LoggedRunEvent[]> {
  await using socket = api.connect()
  await socket.next('hello')
  socket.send({ type: 'subscribe', events: ['*'], runId, from })
  await socket.next('subscribe_ack')
  // Earlier events are of all runs.
  const begun = socket.received.findIndex(({ type }) => type === 'subscribe_ack')
  await ends(socket, begun)
  return socket.received.slice(begun + 1).filter((message) => 'seq' in message)
}

/** Resolves when the end of the run arrives after a position. */
function ends(socket: Socket, place: number): Promise<void> {
  const isOver = () => socket.received.slice(place).some(({ type }) => type === 'run_result')
  return new Promise((resolve) => {
    const look = (): void => {
      if (isOver()) resolve()
    }
    socket.socket.on('message', look)
    look()
  })
}

const overSse = async (api: LongRunServer, runId: string) => eventsOf(await api.stream(runId))

describe.each(KINDS)('on the store "%s"', (kind) => {
  it('A store sends the same events to readers that connect at the start, in the middle and after the end, over every protocol', async () => {
    await using api = await openLongRunServer(kind)
    const runId = await api.submit()
    const read = () => [overSse(api, runId), overSocket(api, runId, 0)]
    const start = read()
    await waitForMiddle(api, runId)
    const middle = read()
    // Both readers have started when they have the past events.
    await Promise.all([start, middle].map((pair) => Promise.race(pair.map(async () => undefined))))
    api.play()
    const all = await Promise.all([...start, ...middle])
    all.push(...(await Promise.all(read())))
    const [first = []] = all
    expect(first.map(({ seq }) => seq)).toEqual(first.map((_, seq) => seq))
    expect(first.at(-1)).toMatchObject({ type: 'run_result', status: 'COMPLETED' })
    expect(all.length).toBe(6)
    for (const other of all) expect(other).toEqual(first)
  })

  it('A store lets a reader resume at any event without gaps or duplicates', async () => {
    await using api = await openLongRunServer(kind, { tasks: 4 })
    const runId = await api.submit()
    api.play()
    const all = await overSse(api, runId)
    const last = all.length - 1
    for (const { seq, id } of all) {
      const byFrom = await eventsOf(await api.stream(runId, `?from=${seq}`))
      expect(byFrom).toEqual(all.slice(seq))
      const response = await api.stream(runId, '', { 'last-event-id': id })
      expect(response.status).toBe(seq === last ? 204 : 200)
      if (seq < last) expect(await eventsOf(response)).toEqual(all.slice(seq + 1))
      expect(await overSocket(api, runId, seq)).toEqual(all.slice(seq))
    }
  })

  it('A store delivers everything to a reader that reconnects again and again during the run', async () => {
    await using api = await openLongRunServer(kind, { tasks: 12, words: 30 })
    const runId = await api.submit()
    api.play()
    const ids: string[] = []
    for (let patience = 1; ; patience += 1) {
      const resume = ids.length === 0 ? {} : { 'last-event-id': ids.at(-1) ?? '' }
      const response = await api.stream(runId, '', resume)
      if (response.status === 204) break
      let left = patience
      for await (const { id } of frames(response)) {
        if (id === undefined) continue
        ids.push(id)
        left -= 1
        if (left === 0) break
      }
    }
    expect(ids).toEqual(ids.map((_, seq) => `${runId}:${seq}`))
    expect((await api.runs.get(runId))?.run.lastSeq).toBe(ids.length - 1)
  })
})

describe('a reader that stops reading', () => {
  it('A reader that stops reading is closed with the position at which it can resume, and then gets every event', async () => {
    const maxBufferedBytes = 50_000
    await using api = await openLongRunServer('embedded', {
      tasks: 100,
      words: 5_000,
      maxBufferedBytes,
    })
    const runId = await api.submit()
    await using slow = api.connect(`/runs/${runId}/ws`)
    await slow.next('hello')
    const closed = slow.closed()
    slow.send({ type: 'subscribe', events: ['*'], runId })
    await slow.next('subscribe_ack')
    slow.socket.pause()
    api.play()
    // The run ends although a reader is stalled.
    const all = await overSse(api, runId)
    expect(JSON.stringify(all).length).toBeGreaterThan(20 * maxBufferedBytes)
    slow.socket.resume()
    const [code, reason] = await closed
    expect(code).toBe(1013)
    const [, place = ''] = /^Too slow; last event sent: run-\w+:(\d+)$/.exec(reason) ?? []
    const last = slow.events.at(-1)
    expect(last?.seq).toBe(Number(place))
    expect(last?.seq).toBeLessThan(all.length - 1)
    expect(await overSocket(api, runId, Number(place) + 1)).toEqual(all.slice(Number(place) + 1))
  })

  it('A reader over SSE that stops reading delays no other reader, and gets every event when it reads again', async () => {
    await using api = await openLongRunServer('embedded', { tasks: 60, words: 5_000 })
    const runId = await api.submit()
    const stalled = await api.stream(runId)
    api.play()
    const all = await overSse(api, runId)
    expect(all.at(-1)).toMatchObject({ status: 'COMPLETED' })
    expect(await eventsOf(stalled)).toEqual(all)
  })
})

describe('a run with 1000 readers', () => {
  it(
    'A run with 1000 readers is received in full and in order by each WebSocket',
    { timeout: 120_000 },
    async () => {
      await using api = await openLongRunServer('embedded', { tasks: 5, words: 10 })
      const runId = await api.submit()
      const readers = Array.from({ length: 1_000 }, () => {
        const socket = new WebSocket(`${api.url.replace('http', 'ws')}/ws`)
        const seqs: number[] = []
        const greeted = Promise.withResolvers<void>()
        const over = Promise.withResolvers<void>()
        socket.addEventListener('message', ({ data }) => {
          const message = JSON.parse(String(data)) as { type: string; seq?: number }
          if (message.type === 'hello') greeted.resolve()
          if (message.seq !== undefined) seqs.push(message.seq)
          if (message.type === 'run_result') over.resolve()
        })
        socket.addEventListener('close', () => {
          over.reject(new Error('A reader was closed'))
        })
        return { socket, seqs, greeted: greeted.promise, over: over.promise }
      })
      await Promise.all(readers.map(({ greeted }) => greeted))
      for (const { socket } of readers) {
        socket.send(JSON.stringify({ type: 'subscribe', events: ['*'], runId, from: 0 }))
      }
      api.play()
      await Promise.all(readers.map(({ over }) => over))
      const { lastSeq = 0 } = (await api.runs.get(runId))?.run ?? {}
      const whole = Array.from({ length: lastSeq + 1 }, (_, seq) => seq).join()
      const wrong = readers.filter(({ seqs }) => !seqs.join().endsWith(whole))
      expect(wrong.map(({ seqs }) => seqs)).toEqual([])
      for (const { socket } of readers) socket.close()
    },
  )
})
