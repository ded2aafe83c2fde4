import { fakeClock, type FakeClock } from '@tutti/testing'
import { expect, it } from 'vitest'

import { ndjsonBody } from './ndjson-body.ts'

const KEEP_ALIVE_MS = 1_000

function bodyOf(values: AsyncGenerator<readonly unknown[]>, clock: FakeClock = fakeClock()) {
  const stop = new AbortController()
  const body = ndjsonBody(values, { clock, keepAliveMs: KEEP_ALIVE_MS, stop })
  const reader = body.getReader()
  const read = async (): Promise<string> => {
    const { done, value } = await reader.read()
    return done ? 'end' : new TextDecoder().decode(value)
  }
  return { read, reader, stop, clock }
}

it('each value is a line, also one with line ends in it', async () => {
  const { read, clock } = bodyOf(
    (async function* lines() {
      yield [{ a: 'x\ny' }, 2]
      yield []
      yield ['ä']
    })(),
  )
  const all = [await read(), await read(), await read(), await read()]
  expect(all.join('')).toBe('{"a":"x\\ny"}\n2\n"ä"\nend')
  expect(clock.pending).toBe(0)
})

it('[N1] nothing is taken before it is asked for', async () => {
  let taken = 0
  const { read } = bodyOf(
    (async function* lines() {
      for (;;) yield [(taken += 1)]
    })(),
  )
  await new Promise((resolve) => setImmediate(resolve))
  expect(taken).toBe(0)
  expect(await read()).toBe('1\n')
  await new Promise((resolve) => setImmediate(resolve))
  expect(taken).toBe(1)
})

it('[N2] an empty line comes after each time of silence, and what was waited for is not lost', async () => {
  const gate = Promise.withResolvers<void>()
  const { read, clock } = bodyOf(
    (async function* lines() {
      yield [1]
      await gate.promise
      yield [2]
    })(),
  )
  expect(await read()).toBe('1\n')
  for (let sign = 0; sign < 2; sign += 1) {
    const next = read()
    await clock.advance(KEEP_ALIVE_MS - 1)
    expect(clock.pending).toBe(1)
    await clock.advance(1)
    expect(await next).toBe('\n')
  }
  gate.resolve()
  expect(await read()).toBe('2\n')
  expect(await read()).toBe('end')
  expect(clock.pending).toBe(0)
})

it('a reader that leaves stops it', async () => {
  const { reader, read, stop } = bodyOf(
    (async function* lines() {
      for (;;) yield [1]
    })(),
  )
  await read()
  expect(stop.signal.aborted).toBe(false)
  await reader.cancel()
  expect(stop.signal.aborted).toBe(true)
})
