import { PassThrough } from 'node:stream'

import { describe, expect, test } from 'vitest'

import { toByteStream } from './byte-stream.ts'

const same = (problem: unknown): unknown => problem
const text = (bytes: Uint8Array | undefined): string => Buffer.from(bytes ?? []).toString()

/** Waits until Node's streams have emitted their events. */
const nextTurn = (): Promise<void> => new Promise(setImmediate)

describe('toByteStream', () => {
  test('toByteStream delivers the bytes that arrived before a failure', async () => {
    const source = new PassThrough()
    const failure = new Error('lost')
    const reader = toByteStream(source, (problem) => [problem]).getReader()
    source.write('a')
    await nextTurn()
    source.write('b')
    await nextTurn()
    source.destroy(failure)
    await nextTurn()
    expect(text((await reader.read()).value)).toBe('a')
    expect(text((await reader.read()).value)).toBe('b')
    await expect(reader.read()).rejects.toEqual([failure])
  })

  test('toByteStream settles a waiting read with a piece, the end or a failure', async () => {
    const source = new PassThrough()
    const reader = toByteStream(source, same).getReader()
    const piece = reader.read()
    source.write('a')
    expect(text((await piece).value)).toBe('a')
    const end = reader.read()
    source.end()
    expect((await end).done).toBe(true)
    const broken = new PassThrough()
    const failing = toByteStream(broken, same).getReader().read()
    const failure = new Error('lost')
    broken.destroy(failure)
    await expect(failing).rejects.toBe(failure)
  })

  test('toByteStream pauses the source while the reader is slow', async () => {
    const source = new PassThrough({ highWaterMark: 65_536 })
    const reader = toByteStream(source, same).getReader()
    const piece = Buffer.alloc(65_536)
    for (let i = 0; i < 40; i += 1) source.write(piece)
    await expect.poll(() => source.isPaused()).toBe(true)
    await nextTurn()
    expect(source.writableLength + source.readableLength).toBeGreaterThan(20 * 65_536)
    source.end()
    let size = 0
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      size += next.value.byteLength
    }
    expect(size).toBe(40 * 65_536)
  })

  test('toByteStream destroys the source when it is cancelled, also while a read waits', async () => {
    const source = new PassThrough()
    const reader = toByteStream(source, same).getReader()
    const waiting = reader.read()
    await reader.cancel()
    expect(source.destroyed).toBe(true)
    expect((await waiting).done).toBe(true)
  })
})
