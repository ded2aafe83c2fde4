import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import Type from 'typebox'

import { fakeClock, type FakeClock } from '../../../../tooling/test-kit/clock.ts'
import { settle } from '../../../../tooling/test-kit/wait.ts'
import { sleep } from '../clock.ts'
import { defineTextTool, defineTool } from '../definition/define-tool.ts'
import { TuttiError } from '../errors.ts'
import { createLimiter } from '../limiter.ts'
import { createToolMetrics } from '../metrics.ts'
import { ToolResult } from '../tool/tool-result.ts'
import { runTool } from './run-tool.ts'

import type { Reviewer } from '../tool/approval.ts'
import type { AgentTool, ToolContext } from '../tool/tool.ts'
import type { RunToolOptions } from './options.ts'
import type { NestedToolCall, ToolCallOutcome } from '../tool/outcome.ts'

const CALL = { id: 'c1', name: 'outer', arguments: '{"input":"x"}' }

let clock: FakeClock
let steps: { readonly call: NestedToolCall; readonly outcome: ToolCallOutcome }[]
let unhandled: unknown[]

const onUnhandled = (reason: unknown): void => {
  unhandled.push(reason)
}

beforeEach(() => {
  clock = fakeClock()
  steps = []
  unhandled = []
  process.on('unhandledRejection', onUnhandled)
})

afterEach(async () => {
  await settle()
  process.off('unhandledRejection', onUnhandled)
  if (unhandled.length > 0) throw new Error('A rejection was not handled', { cause: unhandled })
  if (clock.pending > 0) throw new Error(`${clock.pending} timers were left`)
})

describe('context.callTool', () => {
  it('[CORE-N1] context.callTool gives the step the options of the whole call and nested ids', async () => {
    const seen: ToolContext[] = []
    const inner = text('inner', (_, context) => {
      seen.push(context)
      return 'ok'
    })
    const outer = text('outer', async (_, context) => {
      await context.callTool(inner, { input: 'a' })
      await context.callTool(inner, { input: 'b' })
      await context.callTool(inner, { input: 'c' }, { step: 'search' })
      return 'done'
    })
    await run(outer, {
      agentRole: 'Cook',
      taskName: 'cook',
      runId: 'run-1',
      idempotencyKey: 'run-1/cook/1/0/c1',
      reviewer: refusing,
    })
    expect(seen.map(({ callId, idempotencyKey }) => [callId, idempotencyKey])).toEqual([
      ['c1/1', 'run-1/cook/1/0/c1/1'],
      ['c1/2', 'run-1/cook/1/0/c1/2'],
      ['c1/search', 'run-1/cook/1/0/c1/search'],
    ])
    expect(seen[0]).toMatchObject({
      agentRole: 'Cook',
      taskName: 'cook',
      runId: 'run-1',
      hasReviewer: true,
    })
  })

  it('[CORE-N2] context.callTool returns the outcome and reports it as a step', async () => {
    const add = defineTool({
      name: 'add',
      description: 'Adds',
      input: Type.Object({ a: Type.Number(), b: Type.Number() }),
      output: Type.Number(),
      execute: ({ a, b }) => a + b,
    })
    const outer = text('outer', async (_, context) => {
      const good = await context.callTool(add, { a: 1, b: 2 })
      const bad = await context.callTool(add, { a: 1 }, { step: 'bad' })
      return JSON.stringify([good.result.structured, bad.result.errorMessage])
    })
    const { result } = await run(outer)
    expect(result.output).toBe('[3,"Invalid input for \\"add\\": /b is required"]')
    expect(steps.map(({ call }) => call)).toEqual([
      { id: 'c1/1', parentId: 'c1', name: 'add', arguments: '{"a":1,"b":2}' },
      { id: 'c1/bad', parentId: 'c1', name: 'add', arguments: '{"a":1}' },
    ])
    expect(steps.map(({ outcome }) => outcome.result.success)).toEqual([true, false])
  })

  it('context.callTool reports nested steps, with nested ids', async () => {
    const leaf = text('leaf', () => 'leaf')
    const middle = text('middle', async (_, context) => {
      await context.callTool(leaf, 'x', { step: 'b' })
      return 'middle'
    })
    const outer = text('outer', async (_, context) => {
      await context.callTool(middle, 'x', { step: 'a' })
      return 'outer'
    })
    await run(outer)
    expect(steps.map(({ call }) => [call.id, call.parentId, call.arguments])).toEqual([
      ['c1/a/b', 'c1/a', '"x"'],
      ['c1/a', 'c1', '"x"'],
    ])
  })

  it('context.callTool counts each step and the whole call once', async () => {
    const metrics = createToolMetrics()
    const inner = text('inner', () => {
      throw new Error('Broken')
    })
    const outer = text('outer', async (_, context) => {
      await context.callTool(inner, 'x')
      return 'fine'
    })
    await run(outer, { metrics })
    expect(metrics.snapshot()).toMatchObject([
      { toolName: 'inner', success: 0, failure: 0, error: 1 },
      { toolName: 'outer', success: 1, failure: 0, error: 0 },
    ])
  })

  it('[CORE-N1] context.callTool cancels the step with the whole call, which ends after the step', async () => {
    const controller = new AbortController()
    const inner = text('inner', async (_, { signal }) => {
      await sleep(clock, 60_000, signal)
      await sleep(clock, 200)
      return 'late'
    })
    const running = run(calling(inner), { signal: controller.signal })
    await clock.advance(1_000)
    controller.abort()
    await clock.advance(200)
    expect(await running).toMatchObject({ end: 'cancelled', durationMs: 1_200 })
    expect(steps.map(({ outcome }) => outcome.end)).toEqual(['cancelled'])
  })

  it('context.callTool names a step that ignores the cancel when the whole call is abandoned', async () => {
    const controller = new AbortController()
    const stubborn = text('stubborn', () => new Promise<string>(() => undefined), {
      timeoutMs: Infinity,
    })
    const running = run(calling(stubborn), { signal: controller.signal })
    await settle()
    controller.abort()
    await clock.advance(5_000)
    expect(await running).toMatchObject({
      end: 'abandoned',
      result: {
        errorMessage: 'Tool "outer" was abandoned: it ignored its signal (in flight: "stubborn")',
      },
    })
    expect(steps.map(({ outcome }) => outcome.end)).toEqual(['abandoned'])
  })

  it('[CORE-N1] context.callTool applies a separate time limit to each step within that of the whole call', async () => {
    const slow = text('slow', () => new Promise<string>(() => undefined), { timeoutMs: 100 })
    const outer = text(
      'outer',
      async (_, context) => {
        const { end } = await context.callTool(slow, 'x')
        const second = await context.callTool(slow, 'x')
        return `${end} ${second.end}`
      },
      { timeoutMs: 150 },
    )
    const running = run(outer)
    await clock.advance(100)
    expect(steps.map(({ outcome }) => outcome.end)).toEqual(['timed_out'])
    await clock.advance(50)
    expect(await running).toMatchObject({
      end: 'timed_out',
      result: { errorMessage: 'Tool "outer" timed out after 150 ms (in flight: "slow")' },
    })
    await clock.advance(10_000)
    expect(steps).toHaveLength(1)
  })

  it('context.callTool can abort one step before the whole call', async () => {
    const controller = new AbortController()
    const inner = text('inner', async (_, { signal }) => {
      await sleep(clock, 60_000, signal)
      return 'late'
    })
    const outer = text('outer', async (_, context) => {
      const { end } = await context.callTool(inner, 'x', { signal: controller.signal })
      return `${end} ${String(context.signal.aborted)}`
    })
    const running = run(outer)
    await settle()
    controller.abort()
    expect((await running).result.output).toBe('cancelled false')
  })

  it('context.callTool cancels a step that has its own signal with the whole call', async () => {
    const controller = new AbortController()
    const inner = text('inner', async (_, { signal }) => {
      await sleep(clock, 60_000, signal)
      return 'late'
    })
    const outer = text('outer', async (_, context) => {
      const { signal } = new AbortController()
      await context.callTool(inner, 'x', { signal })
      return 'out'
    })
    const running = run(outer, { signal: controller.signal })
    await settle()
    controller.abort()
    expect(await running).toMatchObject({ end: 'cancelled', durationMs: 0 })
  })

  it.each([
    ['EXIT_EARLY', 'exit_early'],
    ['TOOL_CONFIGURATION', 'misconfigured'],
  ] as const)(
    '[CORE-N3] context.callTool ends the whole call when a step ends with %s',
    async (code, end) => {
      const error = new TuttiError(code, 'Up and out')
      const inner = text('inner', () => Promise.reject(error))
      expect(await run(calling(inner))).toMatchObject({ end, error })
      expect(steps).toMatchObject([{ outcome: { end } }])
    },
  )

  it('context.callTool pauses the time limit of the whole call while a step waits for approval', async () => {
    const answer = Promise.withResolvers<{ readonly action: 'CONTINUE' }>()
    const inner = text('inner', () => 'approved', { requireApproval: true, timeoutMs: 10 })
    const outer = text(
      'outer',
      async (_, context) => (await context.callTool(inner, 'x')).result.output,
      { timeoutMs: 20 },
    )
    const running = run(outer, { reviewer: { decide: () => answer.promise } })
    await clock.advance(60_000)
    answer.resolve({ action: 'CONTINUE' })
    expect((await running).result).toEqual(ToolResult.success('approved'))
  })

  it('context.callTool needs no second slot for a step: neither of the batch, nor of a limiter that the whole call holds', async () => {
    const limiter = createLimiter({ maxConcurrent: 1 })
    const batch = createLimiter({ maxConcurrent: 1 })
    const inner = text('inner', () => 'in', { limiter })
    const outer = text(
      'outer',
      async (_, context) => (await context.callTool(inner, 'x')).result.output,
      { limiter },
    )
    expect((await run(outer, { limiter: batch })).result.output).toBe('in')
    expect([limiter.running, batch.running]).toEqual([0, 0])
  })

  it('context.callTool needs no slot for a nested step that the whole call holds', async () => {
    const limiter = createLimiter({ maxConcurrent: 1 })
    const leaf = text('leaf', () => 'leaf', { limiter })
    const middle = text(
      'middle',
      async (_, context) => (await context.callTool(leaf, 'x')).result.output,
    )
    const outer = text(
      'outer',
      async (_, context) => (await context.callTool(middle, 'x')).result.output,
      { limiter },
    )
    expect((await run(outer)).result.output).toBe('leaf')
    expect(limiter.running).toBe(0)
  })

  it('context.callTool waits for a limiter that another call holds, and releases it', async () => {
    const limiter = createLimiter({ maxConcurrent: 1 })
    await limiter.acquire()
    const running = run(calling(text('inner', () => 'in', { limiter })))
    await clock.advance(300)
    expect(limiter.waiting).toBe(1)
    limiter.release()
    expect((await running).result.output).toBe('in')
    expect(steps[0]?.outcome).toMatchObject({ waitedMs: 300, durationMs: 0 })
    expect(limiter.running).toBe(0)
  })

  it('context.callTool pauses the time limit of the whole call while a step waits for its slot', async () => {
    const limiter = createLimiter({ maxConcurrent: 1 })
    await limiter.acquire()
    const outer = text(
      'outer',
      async (_, context) => {
        await sleep(clock, 15)
        const step = await context.callTool(
          text('inner', () => 'in', { limiter }),
          'x',
        )
        await sleep(clock, 100)
        return step.result.output
      },
      { timeoutMs: 20 },
    )
    const running = run(outer)
    await clock.advance(10_000)
    limiter.release()
    await clock.advance(4)
    expect(steps).toHaveLength(1)
    await clock.advance(1)
    expect(await running).toMatchObject({ end: 'timed_out', durationMs: 10_005 })
    await clock.advance(100)
  })

  it('context.callTool reports input that is not JSON without arguments', async () => {
    const cyclic: Record<string, unknown> = {}
    cyclic.self = cyclic
    const outer = text('outer', async (_, context) => {
      await context.callTool(
        text('inner', () => 'ok'),
        cyclic,
      )
      return 'fine'
    })
    await run(outer)
    expect(steps[0]?.call.arguments).toBe('')
  })
})

function run(tool: AgentTool, options: RunToolOptions = {}): Promise<ToolCallOutcome> {
  return runTool(tool, CALL, {
    clock,
    onNestedOutcome: (call, outcome) => steps.push({ call, outcome }),
    ...options,
  })
}

const refusing: Reviewer = { decide: () => Promise.resolve({ action: 'REJECT' }) }

/** Returns a tool that calls another one and returns its text. */
function calling(inner: AgentTool): AgentTool {
  return text('outer', async (_, context) => {
    const { result } = await context.callTool(inner, 'x')
    return result.output
  })
}

type Settings = Partial<Parameters<typeof defineTextTool>[0]>

function text(
  name: string,
  execute: Parameters<typeof defineTextTool>[0]['execute'],
  settings: Settings = {},
): AgentTool {
  return defineTextTool({ name, description: name, execute, ...settings })
}
