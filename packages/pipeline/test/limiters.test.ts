/** Limiters that pipelines share with their own steps do not cause a deadlock. */
import { beforeEach, describe, expect, it } from 'vitest'

import { createLimiter } from '@tutti/core'
import { sleep } from '@tutti/core/internal'
import { fakeClock, type FakeClock } from '@tutti/testing'
import { mapEach, parallel, pipeline } from '../src/index.ts'
import { call } from './call.ts'
import { failOnUnhandledRejections } from './leaks.ts'
import { textTool } from './text-tools.ts'

import type { Limiter, TypedTool } from '@tutti/core'

failOnUnhandledRejections()

let clock: FakeClock
let limiter: Limiter
let running = 0
let mostRunning = 0

beforeEach(() => {
  clock = fakeClock()
  limiter = createLimiter({ maxConcurrent: 1, clock })
  running = 0
  mostRunning = 0
})

function limited(name: string): TypedTool<string> {
  return textTool(
    name,
    async (text) => {
      running += 1
      mostRunning = Math.max(mostRunning, running)
      await sleep(clock, 100)
      running -= 1
      return `${text}>${name}`
    },
    { limiter },
  )
}

describe('a limiter for one call at a time', () => {
  it('A limiter for one call at a time runs the steps that share it one after the other, in several pipelines, too', async () => {
    const tool = pipeline([limited('a'), limited('b')])
    const calls = [1, 2, 3].map((index) => call(tool, { input: String(index) }, { clock }))
    await clock.advance(600)
    const outcomes = await Promise.all(calls)
    expect(outcomes.map(({ result }) => result.output)).toEqual(['1>a>b', '2>a>b', '3>a>b'])
    expect(mostRunning).toBe(1)
    expect(limiter).toMatchObject({ running: 0, waiting: 0 })
  })

  it('A limiter for one call at a time is not acquired again by the steps of a pipeline that holds it, at any depth', async () => {
    const inner = pipeline([limited('a'), limited('b')], { name: 'inner', limiter })
    const outer = pipeline([inner, limited('c')], { name: 'outer', limiter })
    const calls = [1, 2].map((index) => call(outer, { input: String(index) }, { clock }))
    await clock.advance(600)
    const outcomes = await Promise.all(calls)
    expect(outcomes.map(({ result }) => result.output)).toEqual(['1>a>b>c', '2>a>b>c'])
    expect(mostRunning).toBe(1)
    expect(limiter).toMatchObject({ running: 0, waiting: 0 })
  })

  it('A limiter for one call at a time runs branches and items one after the other', async () => {
    const tool = parallel({
      x: limited('a'),
      y: mapEach(limited('b')),
    })
    const running = call(tool, { items: ['1', '2'], input: 'i' }, { clock })
    await clock.advance(300)
    expect(await running).toMatchObject({ result: { success: true }, durationMs: 300 })
    expect(mostRunning).toBe(1)
  })

  it('A limiter for one call at a time is acquired once for a pipeline if it is that of the run', async () => {
    const tool = pipeline([textTool('a'), textTool('b')])
    const calls = [1, 2, 3].map((index) => call(tool, { input: String(index) }, { clock, limiter }))
    const outcomes = await Promise.all(calls)
    expect(outcomes.every(({ result }) => result.success)).toBe(true)
    expect(limiter).toMatchObject({ running: 0, waiting: 0 })
  })

  it('A limiter for one call at a time removes a waiting step when its pipeline is cancelled', async () => {
    const controller = new AbortController()
    const holding = call(limited('h'), { input: '' }, { clock })
    const waiting = call(
      pipeline([limited('a')], { name: 'p' }),
      { input: '' },
      {
        clock,
        signal: controller.signal,
      },
    )
    await clock.advance(10)
    expect(limiter.waiting).toBe(1)
    controller.abort()
    expect((await waiting).end).toBe('cancelled')
    expect(limiter.waiting).toBe(0)
    await clock.advance(100)
    expect((await holding).result.success).toBe(true)
  })
})
