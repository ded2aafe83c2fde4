import { fakeClock } from '@tutti/testing'
import { describe, expect, it } from 'vitest'

import { updateStream } from './update-stream.ts'

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

/** A stream over messages that a test gives, and what became of their source. */
function streaming(messages: readonly string[]) {
  const clock = fakeClock()
  const stop = new AbortController()
  const source = { isLetGo: false }
  const end = Promise.withResolvers<void>()
  stop.signal.addEventListener('abort', () => {
    end.resolve()
  })
  async function* given(): AsyncGenerator<string> {
    try {
      yield* messages
      await end.promise
    } finally {
      source.isLetGo = true
    }
  }
  const parts = { messages: given(), stop, clock, heartbeatMs: 1_000 }
  const reader = updateStream(parts).getReader()
  return { clock, stop, source, end: end.resolve, reader }
}

describe('updateStream', () => {
  it('sends each message as data, and closes with its source', async () => {
    const { reader, end, source } = streaming(['{"a":1}', '{"b":2}'])
    expect(await reader.read()).toMatchObject({ value: bytes('data: {"a":1}\n\n') })
    expect(await reader.read()).toMatchObject({ value: bytes('data: {"b":2}\n\n') })
    end()
    expect((await reader.read()).done).toBe(true)
    expect(source.isLetGo).toBe(true)
  })

  it('sends a comment after each time of silence, and loses no message', async () => {
    const { reader, clock, end } = streaming([])
    for (let silence = 0; silence < 2; silence += 1) {
      const read = reader.read()
      await clock.advance(1_000)
      expect(await read).toMatchObject({ value: bytes(': still here\n\n') })
    }
    end()
    expect((await reader.read()).done).toBe(true)
  })

  it('lets its source go when the reader leaves, whether it waits for more or not', async () => {
    for (const messages of [[], ['a', 'b', 'c', 'd', 'e', 'f']]) {
      const { reader, source, stop } = streaming(messages)
      if (messages.length > 0) await reader.read()
      // The stream asks for what comes next by itself.
      await new Promise((resolve) => setImmediate(resolve))
      await reader.cancel()
      expect([stop.signal.aborted, source.isLetGo]).toEqual([true, true])
    }
  })
})
