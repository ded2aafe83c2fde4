import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'

import Type from 'typebox'

import { fakeClock, type FakeClock } from '../../../../tooling/test-kit/clock.ts'
import { settle } from '../../../../tooling/test-kit/wait.ts'
import { sleep } from '../clock.ts'
import { defineTextTool, defineTool } from '../definition/define-tool.ts'
import { TuttiError } from '../errors.ts'
import { createLimiter } from '../limiter.ts'
import { silentLogger } from '../logger.ts'
import { createToolMetrics } from '../metrics.ts'
import { ToolResult } from '../tool/tool-result.ts'
import { runToolCalls } from './run-tool-calls.ts'
import { runTool } from './run-tool.ts'

import type { AgentTool, ToolContext } from '../tool/tool.ts'

const CALL = { id: 'c1', name: 'work', arguments: '{"input":"x"}' }

let clock: FakeClock

beforeEach(() => {
  clock = fakeClock()
})

afterEach(() => {
  if (clock.pending > 0) throw new Error(`${clock.pending} timers were left`)
})

describe('[CORE-R5] slots', () => {
  it('Slots of tool calls limit the concurrent calls of a tool over all batches', async () => {
    const { tool, most } = sleeper({ maxConcurrentCalls: 2 })
    const batches = Promise.all([
      runToolCalls([tool], calls(5), { clock }),
      runToolCalls([tool], calls(5), { clock }),
    ])
    await clock.advance(10_000)
    expect((await batches).flat().every(({ result }) => result.success)).toBe(true)
    expect(most()).toBe(2)
  })

  it('Slots of tool calls are shared by tools that share a limiter', async () => {
    const limiter = createLimiter({ maxConcurrent: 1 })
    const one = sleeper({ limiter })
    const other = sleeper({ limiter })
    const running = Promise.all([
      runToolCalls([one.tool], calls(3), { clock }),
      runToolCalls([other.tool], calls(3), { clock }),
    ])
    await clock.advance(299)
    expect(limiter).toMatchObject({ running: 1, waiting: 3 })
    await clock.advance(10_000)
    const waits = (await running).flat().map(({ waitedMs }) => waitedMs)
    expect(waits.toSorted((a, b) => a - b)).toEqual([0, 100, 200, 300, 400, 500])
  })

  it('Slots of tool calls limit all tools of the caller', async () => {
    const limiter = createLimiter({ maxConcurrent: 1 })
    const { tool, most } = sleeper()
    const running = runToolCalls([tool], calls(4), { clock, limiter })
    await clock.advance(10_000)
    await running
    expect(most()).toBe(1)
  })

  it('Slots of tool calls start the time limit of a call when granted', async () => {
    const { tool } = sleeper({ maxConcurrentCalls: 1, timeoutMs: 150 })
    const running = runToolCalls([tool], calls(4), { clock })
    await clock.advance(10_000)
    expect((await running).map(({ end, durationMs }) => [end, durationMs])).toEqual(
      Array.from({ length: 4 }, () => ['finished', 100]),
    )
  })

  it('Slots of tool calls are not taken by a call that is cancelled while it waits', async () => {
    const limiter = createLimiter({ maxConcurrent: 1 })
    await limiter.acquire()
    const controller = new AbortController()
    const { tool, most } = sleeper({ limiter })
    const batch = createLimiter({ maxConcurrent: 1 })
    const running = runTool(tool, CALL, { clock, signal: controller.signal, limiter: batch })
    await clock.advance(40)
    controller.abort()
    expect(await running).toMatchObject({ end: 'cancelled', waitedMs: 40, durationMs: 0 })
    expect(most()).toBe(0)
    expect([limiter.running, limiter.waiting, batch.running]).toEqual([1, 0, 0])
  })

  it('Slots of tool calls are released when the tool throws, times out or is abandoned', async () => {
    const limiter = createLimiter({ maxConcurrent: 3 })
    const controller = new AbortController()
    const ends: AgentTool[] = [
      text(() => Promise.reject(new Error('Broken')), { limiter }),
      text(() => new Promise(() => undefined), { limiter, timeoutMs: 10 }),
      text(() => new Promise(() => undefined), { limiter }),
    ]
    const running = Promise.all(
      ends.map((tool) => runTool(tool, CALL, { clock, signal: controller.signal })),
    )
    await clock.advance(10)
    expect(limiter.running).toBe(1)
    controller.abort()
    await clock.advance(5_000)
    expect((await running).map(({ end }) => end)).toEqual(['threw', 'timed_out', 'abandoned'])
    expect(limiter.running).toBe(0)
  })
})

describe('[CORE-R6] counts', () => {
  it.each([
    ['a result', () => 'ok', { success: 1 }],
    ['a failed result', () => ToolResult.failure('No'), { failure: 1 }],
    ['a throw', () => Promise.reject(new Error('Broken')), { error: 1 }],
    ['a time-out', () => new Promise<string>(() => undefined), { error: 1 }],
  ])(
    'The counts of a tool include %s',
    async (_, body: () => string | ToolResult | Promise<string>, counted) => {
      const metrics = createToolMetrics()
      const running = runTool(text(body), CALL, { clock, metrics, agentRole: 'Cook' })
      await clock.advance(30_000)
      await running
      expect(metrics.snapshot()).toMatchObject([
        { toolName: 'work', agentRole: 'Cook', success: 0, failure: 0, error: 0, ...counted },
      ])
    },
  )

  it('The counts of a tool count invalid input as a failure, also when it is not JSON', async () => {
    const metrics = createToolMetrics()
    await runTool(
      text(() => 'ok'),
      { ...CALL, arguments: '{}' },
      { clock, metrics },
    )
    const typed = defineTool({
      name: 'work',
      description: 'Works',
      input: Type.Object({}),
      execute: () => 'ok',
    })
    await runTool(typed, { ...CALL, arguments: '{' }, { clock, metrics })
    expect(metrics.snapshot()).toMatchObject([{ agentRole: 'unknown', failure: 2 }])
  })

  it('The counts of a tool do not include cancelled calls, and count abandoned ones as errors', async () => {
    const metrics = createToolMetrics()
    const controller = new AbortController()
    const options = { clock, metrics, signal: controller.signal }
    const running = Promise.all([
      runTool(
        text((_, { signal }) => sleep(clock, 1e6, signal).then(() => 'ok')),
        CALL,
        options,
      ),
      runTool(
        text(() => new Promise(() => undefined)),
        CALL,
        options,
      ),
    ])
    await settle()
    controller.abort()
    await clock.advance(5_000)
    await running
    expect(metrics.snapshot()).toMatchObject([
      { success: 0, failure: 0, error: 1, durationMs: { count: 1, sum: 5_000 } },
    ])
  })

  it('The counts of a tool count a call once, regardless of what its body does afterwards', async () => {
    const metrics = createToolMetrics()
    const late = Promise.withResolvers<string>()
    const tool = text(() => late.promise, { timeoutMs: 10 })
    const running = runTool(tool, CALL, { clock, metrics })
    await clock.advance(10)
    await running
    late.resolve('too late')
    await settle()
    expect(metrics.snapshot()).toMatchObject([{ success: 0, error: 1, durationMs: { count: 1 } }])
  })

  it('The counts of a tool are reported with the custom metrics of the tool', async () => {
    const metrics = createToolMetrics()
    const tool = text((_, context) => {
      context.metrics.increment('hits')
      context.metrics.increment('hits', 4)
      context.metrics.record('bytes', 12)
      return 'ok'
    })
    await runTool(tool, CALL, { clock, metrics })
    expect(metrics.snapshot()).toMatchObject([
      { success: 1, counters: { hits: 5 }, values: { bytes: { count: 1, sum: 12 } } },
    ])
  })

  it('The counts of a tool survive metrics, listeners and loggers that throw', async () => {
    const fail = (): never => {
      throw new Error('Disk is full')
    }
    const warn = vi.fn<typeof silentLogger.warn>(fail)
    const tool = text((_, context) => {
      context.metrics.increment('hits')
      context.metrics.record('bytes', 1)
      context.reportProgress('half')
      context.reportFileChange({
        path: 'a',
        changeType: 'CREATED',
        linesAdded: 1,
        linesRemoved: 0,
      })
      return 'ok'
    })
    const outcome = await runTool(tool, CALL, {
      clock,
      metrics: { countCall: fail, increment: fail, record: fail },
      logger: { ...silentLogger, warn },
      onProgress: fail,
      onFileChange: fail,
    })
    expect(outcome).toMatchObject({ end: 'finished', result: ToolResult.success('ok') })
    expect(warn).toHaveBeenCalledTimes(5)
    expect(
      await runTool(text(fail), CALL, { clock, logger: { ...silentLogger, warn } }),
    ).toMatchObject({ end: 'threw' })
  })
})

describe('reports of a body', () => {
  it('Reports of a body reach the listeners with their call until the call has ended', async () => {
    const told: unknown[] = []
    let late: ToolContext | undefined
    const tool = text((_, context) => {
      late = context
      const { reportProgress, reportFileChange } = context
      reportProgress('reading')
      reportProgress({ message: 'writing', fraction: 0.5 })
      reportFileChange({ path: 'a.txt', changeType: 'MODIFIED', linesAdded: 2, linesRemoved: 1 })
      return 'ok'
    })
    await runTool(tool, CALL, {
      clock,
      onProgress: (call, progress) => told.push([call.id, progress]),
      onFileChange: (call, change) => told.push([call.id, change]),
    })
    late?.reportProgress('too late')
    expect(told).toEqual([
      ['c1', { message: 'reading' }],
      ['c1', { message: 'writing', fraction: 0.5 }],
      ['c1', { path: 'a.txt', changeType: 'MODIFIED', linesAdded: 2, linesRemoved: 1 }],
    ])
  })

  it('Reports of a body can read an aborted signal after the call was cancelled', async () => {
    const controller = new AbortController()
    const reasons: unknown[] = []
    const tool = text(async (_, context) => {
      await sleep(clock, 100)
      reasons.push(context.signal.reason)
      return 'ok'
    })
    const running = runTool(tool, CALL, { clock, signal: controller.signal })
    await settle()
    controller.abort('enough')
    await clock.advance(100)
    expect(await running).toMatchObject({ end: 'cancelled' })
    expect(reasons).toEqual(['enough'])
  })

  it.each([
    ['EXIT_EARLY', 'exit_early'],
    ['TOOL_CONFIGURATION', 'misconfigured'],
  ] as const)(
    '[CORE-R1] runTool ends the call with the error that the tool throws: %s',
    async (code, end) => {
      const error = new TuttiError(code, 'Because')
      const metrics = createToolMetrics()
      const outcome = await runTool(
        text(() => Promise.reject(error)),
        CALL,
        { clock, metrics },
      )
      expect(outcome).toEqual({
        result: ToolResult.failure('Because'),
        durationMs: 0,
        waitedMs: 0,
        end,
        error,
      })
      expect(metrics.snapshot()).toEqual([])
    },
  )

  it('runTool treats any other TuttiError like any error', async () => {
    const error = new TuttiError('CONFIG_INVALID', 'Bad')
    const outcome = await runTool(
      text(() => Promise.reject(error)),
      CALL,
      { clock },
    )
    expect(outcome).toMatchObject({ end: 'threw' })
    expect(outcome).not.toHaveProperty('error')
  })
})

it('A text tool takes arguments that are not JSON as its input, and a typed tool rejects them', async () => {
  const tool = text((input) => `<${input}>`)
  const { result } = await runTool(tool, { ...CALL, arguments: '2 + 3 * 4' }, { clock })
  expect(result).toEqual(ToolResult.success('<2 + 3 * 4>'))
})

type Definition = Parameters<typeof defineTextTool>[0]

function text(execute: Definition['execute'], settings: Partial<Definition> = {}): AgentTool {
  return defineTextTool({ name: 'work', description: 'Works', execute, ...settings })
}

/** Returns a tool that takes 100 ms, and the maximum number of its concurrent calls. */
function sleeper(settings: Partial<Definition> = {}): {
  readonly tool: AgentTool
  readonly most: () => number
} {
  let running = 0
  let most = 0
  const tool = text(async () => {
    running += 1
    most = Math.max(most, running)
    await sleep(clock, 100)
    running -= 1
    return 'ok'
  }, settings)
  return { tool, most: () => most }
}

function calls(count: number): readonly (typeof CALL)[] {
  return Array.from({ length: count }, (_, index) => ({ ...CALL, id: `c${index}` }))
}
