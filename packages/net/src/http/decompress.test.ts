import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import zlib from 'node:zlib'

import { describe, expect, it } from 'vitest'

import { decompress } from './decompress.ts'

const TEXT = 'Every word of this is said again, and again, and again. '.repeat(50)

describe('decompress', () => {
  it.each([
    ['gzip', zlib.gzipSync(TEXT)],
    ['GZip', zlib.gzipSync(TEXT)],
    ['x-gzip', zlib.gzipSync(TEXT)],
    ['deflate', zlib.deflateSync(TEXT)],
    ['deflate', zlib.deflateRawSync(TEXT)],
    ['br', zlib.brotliCompressSync(TEXT)],
    ['gzip, br', zlib.brotliCompressSync(zlib.gzipSync(TEXT))],
    [' identity , gzip ', zlib.gzipSync(TEXT)],
    ['identity', Buffer.from(TEXT)],
    ['', Buffer.from(TEXT)],
    [null, Buffer.from(TEXT)],
  ])('`decompress` decodes %j', async (coding, bytes) => {
    const plain = decompress(Readable.from([bytes.subarray(0, 20), bytes.subarray(20)]), coding)
    expect((await buffer(plain)).toString()).toBe(TEXT)
  })

  it.each(['gzip', 'deflate', 'br'])('`decompress` decodes an empty body: %s', async (coding) => {
    expect(await buffer(decompress(Readable.from([]), coding))).toHaveLength(0)
  })

  it.each([
    ['gzip', zlib.gzipSync(TEXT)],
    ['deflate', zlib.deflateSync(TEXT)],
    ['br', zlib.brotliCompressSync(TEXT)],
    ['deflate', zlib.deflateRawSync(TEXT)],
  ])('`decompress` fails with %s that ends early', async (coding, bytes) => {
    const plain = decompress(Readable.from([bytes.subarray(0, -5)]), coding)
    await expect(buffer(plain)).rejects.toThrow('unexpected end of file')
  })

  it('`decompress` reads deflate whose first piece is one byte', async () => {
    const bytes = zlib.deflateSync(TEXT)
    const plain = decompress(Readable.from([bytes.subarray(0, 1), bytes.subarray(1)]), 'deflate')
    expect((await buffer(plain)).toString()).toBe(TEXT)
  })

  it('`decompress` does not decode more than its reader takes', async () => {
    const bytes = zlib.gzipSync(Buffer.alloc(100_000_000))
    const plain = decompress(Readable.from([bytes]), 'gzip')
    await new Promise((resolve) => plain.once('readable', resolve))
    await new Promise((resolve) => setImmediate(resolve))
    expect(plain.readableLength).toBeLessThan(1_000_000)
    plain.destroy()
  })

  it.each([
    ['gzip', 'incorrect header check'],
    ['deflate', 'invalid block type'],
    ['br', 'Decompression failed'],
  ])('`decompress` fails with bytes that are not %s', async (coding, reason) => {
    const plain = decompress(Readable.from([Buffer.alloc(40, 0xff)]), coding)
    await expect(buffer(plain)).rejects.toThrow(reason)
  })

  it.each(['zstd', 'compress', 'gzip, aws-chunked', 'gzip, gzip, gzip, gzip'])(
    '`decompress` refuses the coding %j',
    (coding) => {
      const body = Readable.from([])
      expect(() => decompress(body, coding)).toThrow(
        `Unsupported content encoding "${coding}": expected gzip, deflate or br`,
      )
    },
  )

  it('`decompress` destroys the body when its result is destroyed', async () => {
    const body = Readable.from([zlib.gzipSync(TEXT)])
    const plain = decompress(body, 'br, gzip')
    const closed = new Promise((resolve) => body.on('close', resolve))
    plain.on('error', () => undefined).destroy()
    await closed
    expect(body.destroyed).toBe(true)
  })

  it('`decompress` fails when the body fails', async () => {
    const body = new Readable({ read: () => undefined })
    const reading = buffer(decompress(body, 'gzip'))
    body.destroy(new Error('cut off'))
    await expect(reading).rejects.toThrow('cut off')
  })
})
