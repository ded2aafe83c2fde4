import { createClient } from '@tutti/client'
import { expect, it } from 'vitest'

import { readStoredEvents } from './stored-events.ts'

const RUN_ID = 'r'
const AT = '2026-01-01T00:00:00.000Z'

/** Returns the frames of an event stream with the events from `first` to `last`. */
function toFrames(first: number, last: number): Uint8Array {
  const frames = Array.from({ length: last - first + 1 }, (_, at) => {
    const seq = first + at
    const position = { runId: RUN_ID, seq, id: `${RUN_ID}:${seq}` }
    const event = {
      type: 'run_cancelling',
      requestedAt: AT,
      mode: 'abort',
      cause: 'SERVER',
      ...position,
    }
    return `id: ${position.id}\ndata: ${JSON.stringify(event)}\n\n`
  })
  return new TextEncoder().encode(frames.join(''))
}

/** Responds with frames and stays open, as for an active run. Calls `onRead` when the reader waits for more, or leaves. */
function respond(frames: Uint8Array, onRead?: () => void): Response {
  let isSent = false
  const source: UnderlyingDefaultSource<Uint8Array> = {
    pull(controller) {
      if (isSent) {
        onRead?.()
        return new Promise(() => undefined)
      }
      isSent = true
      controller.enqueue(frames)
      return undefined
    },
    cancel: () => onRead?.(),
  }
  const body = new ReadableStream(source, { highWaterMark: 0 })
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
}

/** Reads the events of an active run; `answer` responds to the two requests. */
async function read(answer: (isForNewest: boolean) => Promise<Response>): Promise<number> {
  const client = createClient({
    baseUrl: 'http://127.0.0.1',
    fetch: (url) => answer(url.includes('from=-1')),
  })
  const log = await readStoredEvents(client, RUN_ID, {
    signal: new AbortController().signal,
    onConnection: () => undefined,
    onProgress: () => undefined,
  })
  return log.events.length
}

it('The stored log ends at the newest event that an active run had, if that is known first', async () => {
  const newest = Promise.withResolvers<void>()
  const count = await read(async (isForNewest) => {
    if (isForNewest) return respond(toFrames(2, 2), newest.resolve)
    await newest.promise
    return respond(toFrames(0, 700))
  })
  expect(count).toBe(3)
})

it('The stored log ends at the newest event that an active run had, if that is known after it was read', async () => {
  const isRead = Promise.withResolvers<void>()
  const count = await read(async (isForNewest) => {
    if (!isForNewest) return respond(toFrames(0, 700), isRead.resolve)
    await isRead.promise
    return respond(toFrames(700, 700))
  })
  expect(count).toBe(701)
})
