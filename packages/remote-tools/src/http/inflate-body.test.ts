import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'

import { describe, expect, it } from 'vitest'

import { inflateBody } from './inflate-body.ts'

const text = Buffer.from('hello '.repeat(10_000))

async function inflated(body: Uint8Array, coding: string, maxBytes = 1_000_000) {
  const { body: bytes, truncated } = await inflateBody(body, { coding, maxBytes })
  return { text: bytes.toString(), truncated }
}

describe('a compressed body', () => {
  it.each([
    ['gzip', gzipSync(text)],
    ['X-GZIP', gzipSync(text)],
    ['br', brotliCompressSync(text)],
    ['deflate', deflateSync(text)],
    ['gzip, br', brotliCompressSync(gzipSync(text))],
    ['identity', text],
  ])('is undone, several codings in reverse: %s', async (coding, body) => {
    expect(await inflated(body, coding)).toEqual({ text: text.toString(), truncated: false })
  })

  it('is read up to the limit and no further', async () => {
    const body = gzipSync(text)
    // The check sum at the end is wrong: who reads so far fails.
    body.writeUInt32LE(0, body.length - 8)
    expect(await inflated(body, 'gzip', 5)).toEqual({ text: 'hello', truncated: true })
    await expect(inflated(body, 'gzip')).rejects.toThrow('incorrect data check')
  })

  it('that ends early gives what it has', async () => {
    const body = gzipSync(Buffer.from('hello'.repeat(3)))
    expect((await inflated(body.subarray(0, -8), 'gzip')).text).toBe('hello'.repeat(3))
  })

  it.each(['zip', 'gzip, gzip, gzip, gzip', 'gzip; q=1'])(
    'is refused in the coding %s',
    async (coding) => {
      await expect(inflated(gzipSync(text), coding)).rejects.toThrow(RangeError)
    },
  )
})
