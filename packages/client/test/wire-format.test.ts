/** The bytes of an event stream may arrive in any chunks and with any line endings. */
import { describe, expect, it } from 'vitest'

import { createClient } from '../src/index.ts'
import { recordingClock } from './recording-clock.ts'
import { collect, frames, LOG, RUN_ID } from './sample-run.ts'

import type { LoggedRunEvent } from '@tutti/protocol'

const TEXT = `: events follow\n\n${frames(LOG)}`

/** Reads the events of a body. Unlike a real body, it does not end with the signal of the request. */
function eventsOf(body: ReadableStream<Uint8Array>): AsyncIterable<LoggedRunEvent> {
  const headers = { 'content-type': 'text/event-stream' }
  const client = createClient({
    baseUrl: 'http://tutti.example',
    clock: recordingClock(),
    fetch: () => Promise.resolve(new Response(body, { headers })),
  })
  return client.runs.events(RUN_ID)
}

/** Reads the events of a body with these chunks. */
function eventsIn(pieces: readonly Uint8Array[]): Promise<LoggedRunEvent[]> {
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const piece of pieces) controller.enqueue(piece)
    },
  })
  return collect(eventsOf(body))
}

function piecesOf(text: string, size: number): Uint8Array[] {
  const bytes = new TextEncoder().encode(text)
  const count = Math.ceil(bytes.length / size)
  return Array.from({ length: count }, (_, index) => bytes.slice(index * size, (index + 1) * size))
}

describe('an event stream is read', () => {
  it.each([1, 2, 3, 5, 64, 1_000_000])(
    'An event stream is read in chunks of %i bytes',
    async (size) => {
      expect(await eventsIn(piecesOf(TEXT, size))).toEqual(LOG)
    },
  )

  it.each([
    ['CRLF', '\r\n'],
    ['CR', '\r'],
  ])('An event stream is read with %s, in any chunks', async (_, lineEnd) => {
    const text = TEXT.replaceAll('\n', lineEnd)
    // A CR at the very end of a stream may still be followed by LF.
    expect(await eventsIn(piecesOf(`${text}:\n`, 1))).toEqual(LOG)
    expect(await eventsIn(piecesOf(`${text}:\n`, 1_000_000))).toEqual(LOG)
  })

  it('An event stream is read with a byte order mark, unknown fields and empty chunks', async () => {
    const text = `\uFEFFretry: 5\nmood: good\n\n${TEXT}`
    const pieces = piecesOf(text, 7).flatMap((piece) => [piece, new Uint8Array()])
    expect(await eventsIn(pieces)).toEqual(LOG)
  })

  it('An event stream is read with data on several lines', async () => {
    const text = LOG.map((event) => {
      const lines = JSON.stringify(event, null, 2).split('\n')
      return `${lines.map((line) => `data: ${line}`).join('\n')}\n\n`
    })
    expect(await eventsIn(piecesOf(text.join(''), 11))).toEqual(LOG)
  })

  it('An event stream is read except for a frame without an end', async () => {
    const piece = new TextEncoder().encode(`data: ${'x'.repeat(1024 * 1024)}\n`)
    await expect(eventsIn(Array.from({ length: 70 }, () => piece))).rejects.toMatchObject({
      code: 'BAD_RESPONSE',
      message: expect.stringContaining('An event exceeds'),
    })
  })
})

it('An event stream is read until the reader stops, which cancels the body', async () => {
  const cancelled = new Promise<void>((resolve) => {
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(new TextEncoder().encode(TEXT))
      },
      cancel: () => resolve(),
    })
    void (async () => {
      for await (const { seq } of eventsOf(body)) if (seq === 1) break
    })()
  })
  await cancelled
})
