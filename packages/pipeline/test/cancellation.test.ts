/** Cancellation and time limits stop the running step, and no step starts after them. */
import { beforeEach, describe, expect, it } from 'vitest'

import { runTool } from '@tutti/core'
import { silentLogger, sleep } from '@tutti/core/internal'
import { fakeClock, type FakeClock } from '@tutti/testing'
import { branch, mapEach, parallel, pipeline, pipelineBuilder } from '../src/index.ts'
import { call } from './call.ts'
import { failOnUnhandledRejections } from './leaks.ts'
import { textTool } from './text-tools.ts'

import type { AgentTool, TextToolDefinition, TypedTool } from '@tutti/core'

failOnUnhandledRejections()

let clock: FakeClock
let log: string[] = []

beforeEach(() => {
  clock = fakeClock()
  log = []
})

/** A tool that runs for a minute, or until its signal aborts. */
function slow(name: string, settings: Partial<TextToolDefinition> = {}): TypedTool<string> {
  return textTool(
    name,
    async (text, { signal }) => {
      log.push(`${name} begins`)
      await sleep(clock, 60_000, signal)
      log.push(`${name} ${signal.aborted ? 'stopped' : 'done'} at ${clock.elapsed()}`)
      signal.throwIfAborted()
      return text
    },
    { timeoutMs: Infinity, ...settings },
  )
}

/** Never ends, even when its signal aborts. */
function deaf(name: string): TypedTool<string> {
  return textTool(name, () => new Promise<string>(() => undefined), { timeoutMs: Infinity })
}

function note(name: string): TypedTool<string> {
  return textTool(name, (text) => {
    log.push(name)
    return text
  })
}

describe('[PIPE-P6] cancel', () => {
  it('A cancel of a pipeline aborts the step in flight, and starts no later one', async () => {
    const controller = new AbortController()
    const tool = pipeline([note('a'), slow('b'), note('c')])
    const running = call(tool, { input: '' }, { clock, signal: controller.signal })
    await clock.advance(1_000)
    controller.abort()
    const { end, result, steps } = await running
    expect(end).toBe('cancelled')
    expect(result.errorMessage).toBe('Tool "a_then_b_then_c" was cancelled')
    expect(log).toEqual(['a', 'b begins', 'b stopped at 1000'])
    expect(steps).toEqual(['c/1:a a finished', 'c/2:b b cancelled'])
    expect(clock.pending).toBe(0)
  })

  it('A cancel of a pipeline ends it with CONTINUE_ON_FAILURE, too', async () => {
    const controller = new AbortController()
    const tool = pipeline([slow('a'), note('b')], { errorStrategy: 'CONTINUE_ON_FAILURE' })
    const running = call(tool, { input: '' }, { clock, signal: controller.signal })
    await clock.advance(10)
    controller.abort()
    const { end, steps } = await running
    expect([end, steps]).toEqual(['cancelled', ['c/1:a a cancelled']])
    expect(log).toEqual(['a begins', 'a stopped at 10'])
  })

  it('A cancel of a pipeline abandons and names a step that ignores its signal after five seconds', async () => {
    const controller = new AbortController()
    const tool = pipeline([note('a'), deaf('b'), note('c')], { name: 'p' })
    const running = call(tool, { input: '' }, { clock, signal: controller.signal })
    await clock.advance(10)
    controller.abort()
    await clock.advance(4_999)
    let isOver = false
    const over = running.then(() => {
      isOver = true
    })
    await clock.advance(0)
    expect(isOver).toBe(false)
    await clock.advance(1)
    await over
    const { end, result, steps } = await running
    expect(end).toBe('abandoned')
    expect(result.errorMessage).toBe(
      'Tool "p" was abandoned: it ignored its signal (in flight: "b")',
    )
    expect(steps).toEqual(['c/1:a a finished', 'c/2:b b abandoned'])
    expect(log).toEqual(['a'])
    expect(clock.pending).toBe(0)
  })

  it('A cancel of a pipeline starts no step when the call is already aborted', async () => {
    const tool = pipeline([note('a'), note('b')])
    const { end, steps } = await call(tool, { input: '' }, { signal: AbortSignal.abort() })
    expect([end, steps, log]).toEqual(['cancelled', [], []])
  })

  it('A cancel of a pipeline starts no further step after an adapter', async () => {
    const controller = new AbortController()
    const tool = pipelineBuilder({ errorStrategy: 'CONTINUE_ON_FAILURE' })
      .step(note('a'))
      .adapter(async (_, { signal }) => {
        await sleep(clock, 60_000, signal)
        log.push('adapter stopped')
        throw new Error('Adapter stopped')
      })
      .step(note('b'))
      .build()
    const warned: string[] = []
    const logger = { ...silentLogger, warn: (message: string) => warned.push(message) }
    const running = call(tool, { input: '' }, { clock, logger, signal: controller.signal })
    await clock.advance(10)
    controller.abort()
    const { end, steps } = await running
    expect([end, steps]).toEqual(['cancelled', ['c/1:a a finished']])
    expect(log).toEqual(['a', 'adapter stopped'])
    expect(warned).toEqual([])
  })

  it('A cancel of a pipeline calls neither tool after a predicate', async () => {
    const controller = new AbortController()
    const decide = async (_: unknown, { signal }: { signal: AbortSignal }): Promise<boolean> => {
      await sleep(clock, 60_000, signal)
      return true
    }
    const tool = branch({ when: decide, yes: note('a'), no: note('b') })
    const running = call(tool, { input: '' }, { clock, signal: controller.signal })
    await clock.advance(10)
    controller.abort()
    const { end, steps } = await running
    expect([end, steps, log]).toEqual(['cancelled', [], []])
  })

  it('A cancel of a pipeline aborts every branch and item in flight, and starts no other', async () => {
    const controller = new AbortController()
    const tool = parallel({
      one: slow('a'),
      many: pipelineBuilder()
        .step(note('list'))
        .adapter(() => ['x', 'y', 'z'])
        .step(mapEach(slow('b'), { concurrency: 2, errorStrategy: 'CONTINUE_ON_FAILURE' }))
        .build(),
    })
    const running = call(tool, { input: '' }, { clock, signal: controller.signal })
    await clock.advance(10)
    controller.abort()
    const { end, steps } = await running
    expect(end).toBe('cancelled')
    expect(log.slice(0, 4).toSorted()).toEqual(['a begins', 'b begins', 'b begins', 'list'])
    expect(log.slice(4).toSorted()).toEqual([
      'a stopped at 10',
      'b stopped at 10',
      'b stopped at 10',
    ])
    expect(steps.filter((step) => step.endsWith(' b cancelled'))).toHaveLength(2)
    expect(clock.pending).toBe(0)
  })

  it('A cancel of a pipeline reaches a step in three nested pipelines', async () => {
    const controller = new AbortController()
    const inner = pipeline([slow('a'), note('b')], { name: 'inner' })
    const middle = pipeline([inner, note('c')], { name: 'middle' })
    const outer = pipeline([middle, note('d')], { name: 'outer' })
    const running = call(outer, { input: '' }, { clock, signal: controller.signal })
    await clock.advance(10)
    controller.abort()
    const { end, steps } = await running
    expect(end).toBe('cancelled')
    expect(log).toEqual(['a begins', 'a stopped at 10'])
    expect(steps).toEqual([
      'c/1:middle/1:inner/1:a a cancelled',
      'c/1:middle/1:inner inner cancelled',
      'c/1:middle middle cancelled',
    ])
  })
})

describe('[PIPE-P6] time limits', () => {
  it('Time limits fail a step, after which the pipeline follows its strategy', async () => {
    const quick = (errorStrategy: 'FAIL_FAST' | 'CONTINUE_ON_FAILURE'): AgentTool =>
      pipeline([slow('a', { timeoutMs: 100 }), textTool('b')], { errorStrategy })
    const failed = call(quick('FAIL_FAST'), { input: '' }, { clock })
    const continued = call(quick('CONTINUE_ON_FAILURE'), { input: '' }, { clock })
    await clock.advance(100)
    expect(await failed).toMatchObject({
      end: 'finished',
      result: { errorMessage: 'Tool "a" timed out after 100 ms' },
      steps: ['c/1:a a timed_out'],
    })
    expect(await continued).toMatchObject({
      result: { output: 'Tool "a" timed out after 100 ms>b' },
      durationMs: 100,
    })
  })

  it('Time limits abort and name the step in flight when the pipeline times out', async () => {
    const tool = pipeline([note('a'), slow('b'), note('c')], { timeoutMs: 100, name: 'p' })
    const running = call(tool, { input: '' }, { clock })
    await clock.advance(100)
    const { end, result } = await running
    expect(end).toBe('timed_out')
    expect(result.errorMessage).toBe('Tool "p" timed out after 100 ms (in flight: "b")')
    await clock.advance(0)
    expect(log).toEqual(['a', 'b begins', 'b stopped at 100'])
  })

  it('Time limits of steps are not shortened by the default limit of their pipeline', async () => {
    const twenty = (name: string): AgentTool =>
      textTool(name, async (text) => {
        await sleep(clock, 20_000)
        return `${text}>${name}`
      })
    const running = call(
      pipeline([twenty('a'), twenty('b'), twenty('c')]),
      { input: '' },
      { clock },
    )
    await clock.advance(60_000)
    expect(await running).toMatchObject({ result: { output: '>a>b>c' }, durationMs: 60_000 })
  })

  it('Time limits include the time of adapters', async () => {
    const tool = pipelineBuilder({ name: 'p', timeoutMs: 50 })
      .step(note('a'))
      .adapter(() => new Promise<string>(() => undefined))
      .step(note('b'))
      .build()
    const running = call(tool, { input: '' }, { clock })
    await clock.advance(50)
    expect(await running).toMatchObject({
      end: 'timed_out',
      result: { errorMessage: 'Tool "p" timed out after 50 ms' },
    })
  })
})

describe('many cancels', () => {
  it('Many cancels leave no timer and no unhandled rejection', async () => {
    const tool = parallel({
      a: mapEach(slow('a')),
      b: pipeline([slow('b'), note('c')]),
      d: branch({ when: async () => Promise.resolve(true), yes: slow('d') }),
    })
    const calls = Array.from({ length: 40 }, async (_, index) => {
      const controller = new AbortController()
      const running = runTool(
        tool,
        { id: String(index), name: tool.name, arguments: '{"items":["x","y"],"input":"z"}' },
        { clock, signal: controller.signal },
      )
      for (let turn = 0; turn < index; turn += 1) await Promise.resolve()
      controller.abort()
      return running
    })
    const ends = (await Promise.all(calls)).map(({ end }) => end)
    expect(ends.every((end) => end === 'cancelled')).toBe(true)
    expect(clock.pending).toBe(0)
  })
})
