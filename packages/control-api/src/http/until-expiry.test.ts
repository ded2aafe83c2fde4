import { fakeClock } from '@tutti/testing'
import { describe, expect, it } from 'vitest'

import { endAtExpiry } from './until-expiry.ts'

/** Returns a stream that the test writes to. */
function stream(type = 'text/event-stream; charset=utf-8') {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
  const writer = writable.getWriter()
  const response = new Response(readable, { status: 201, headers: { 'content-type': type } })
  return { response, writer }
}

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

describe('endAtExpiry', () => {
  it('ends a stream when the key expires, and cancels its source', async () => {
    const clock = fakeClock()
    const { response, writer } = stream()
    const limited = endAtExpiry(response, { expiresAt: clock.now() + 1_000 }, clock)
    const reader = limited.body?.getReader()
    void writer.write(bytes('one'))
    expect(await reader?.read()).toEqual({ done: false, value: bytes('one') })
    const next = reader?.read()
    await clock.advance(999)
    await clock.advance(1)
    expect(await next).toEqual({ done: true, value: undefined })
    await expect(writer.closed).rejects.toBeUndefined()
    expect([limited.status, limited.headers.get('content-type')]).toEqual([
      201,
      'text/event-stream; charset=utf-8',
    ])
  })

  it('passes on a stream that ends before the key expires', async () => {
    const clock = fakeClock()
    const { response, writer } = stream('application/x-ndjson')
    const limited = endAtExpiry(response, { expiresAt: clock.now() + 1_000 }, clock)
    void writer.write(bytes('one')).then(() => writer.close())
    expect(await limited.text()).toBe('one')
  })

  it('leaves other responses, and streams of keys that never expire, unchanged', () => {
    const clock = fakeClock()
    const plain = Response.json({})
    expect(endAtExpiry(plain, { expiresAt: clock.now() + 1 }, clock)).toBe(plain)
    const { response } = stream()
    expect(endAtExpiry(response, { expiresAt: Infinity }, clock)).toBe(response)
  })
})
