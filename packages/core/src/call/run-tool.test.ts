import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'

import { fakeClock, type FakeClock } from '../../../../tooling/test-kit/clock.ts'
import { settle } from '../../../../tooling/test-kit/wait.ts'
import { TuttiError } from '../errors.ts'
import { defineTool } from '../definition/define-tool.ts'
import { silentLogger } from '../logger.ts'
import { runTool } from './run-tool.ts'
import { sleep } from '../clock.ts'
import { ToolResult } from '../tool/tool-result.ts'

import Type from 'typebox'

import type { ToolReturn } from '../definition/make-tool.ts'
import type { AgentTool, ToolContext } from '../tool/tool.ts'
import type { ToolCallOutcome } from '../tool/outcome.ts'

type Body = (context: ToolContext) => ToolReturn | Promise<ToolReturn>

const CALL = { id: 'call-1', name: 'work', arguments: '{}' }

let clock: FakeClock
const unhandled: unknown[] = []
const onUnhandled = (reason: unknown): void => {
  unhandled.push(reason)
}

beforeEach(() => {
  clock = fakeClock()
  unhandled.length = 0
  process.on('unhandledRejection', onUnhandled)
})

afterEach(async () => {
  await settle()
  process.off('unhandledRejection', onUnhandled)
  if (unhandled.length > 0) throw new Error('A rejection was not handled', { cause: unhandled })
  if (clock.pending > 0) throw new Error(`${clock.pending} timers were left`)
})

describe('a call that finishes', () => {
  it('A call that finishes has the result of the tool and its duration in whole milliseconds', async () => {
    const running = start(async () => {
      await sleep(clock, 120.4)
      return 'done'
    })
    await clock.advance(500)
    expect(await running).toEqual({
      result: ToolResult.success('done'),
      durationMs: 120,
      waitedMs: 0,
      end: 'finished',
    })
  })

  it('A call that finishes gives the body its context', async () => {
    const seen: ToolContext[] = []
    const tool = toolOf((context) => {
      seen.push(context)
      return 'ok'
    })
    await runTool(tool, CALL, {
      clock,
      agentRole: 'Researcher',
      taskName: 'research',
      runId: 'run-1',
      idempotencyKey: 'run-1/research/1/0/call-1',
      logger: silentLogger,
    })
    await runTool(tool, CALL, { clock })
    expect(seen[0]).toMatchObject({
      callId: 'call-1',
      idempotencyKey: 'run-1/research/1/0/call-1',
      agentRole: 'Researcher',
      taskName: 'research',
      runId: 'run-1',
      logger: silentLogger,
    })
    expect(seen[1]).toMatchObject({ agentRole: 'unknown', logger: silentLogger })
    expect(seen[1]).not.toHaveProperty('taskName')
    expect(seen[1]).not.toHaveProperty('runId')
  })

  it('A call that finishes uses the id of the call as its idempotency key unless another one is given', async () => {
    const keys: string[] = []
    const tool = toolOf(({ idempotencyKey }) => {
      keys.push(idempotencyKey)
      return ''
    })
    await runTool(tool, CALL, { clock })
    await runTool(tool, CALL, { clock, idempotencyKey: 'mine' })
    expect(keys).toEqual(['call-1', 'mine'])
  })

  it('A call that finishes has a signal that does not abort', async () => {
    const seen: AbortSignal[] = []
    const running = start(({ signal }) => {
      seen.push(signal)
      return 'ok'
    })
    await running
    await clock.advance(1_000_000)
    expect(seen[0]?.aborted).toBe(false)
  })

  it('A call that finishes is not affected by a later abort of the caller', async () => {
    const controller = new AbortController()
    const seen: AbortSignal[] = []
    const outcome = await start(
      ({ signal }) => {
        seen.push(signal)
        return 'ok'
      },
      { signal: controller.signal },
    )
    controller.abort()
    expect(outcome.end).toBe('finished')
    expect(seen[0]?.aborted).toBe(false)
  })
})

describe('[CORE-R1] an error that the tool body throws', () => {
  it.each<[string, Body, string]>([
    [
      'a throw',
      () => {
        throw new Error('No network')
      },
      'No network',
    ],
    ['a rejection', () => Promise.reject(new TypeError('Not a city')), 'Not a city'],
    [
      'a thrown value that is not an error',
      () => {
        // oxlint-disable-next-line typescript/only-throw-error -- careless tools do this
        throw undefined
      },
      'Unknown error',
    ],
    [
      'an error whose message cannot be read',
      () => {
        throw Object.defineProperty(new Error('x'), 'message', {
          get() {
            throw new Error('no')
          },
        })
      },
      'Error',
    ],
    [
      'a Tutti error whose code cannot be read',
      () => {
        throw Object.defineProperty(new TuttiError('CANCELLED', 'Odd'), 'code', {
          get() {
            throw new Error('no')
          },
        })
      },
      'Odd',
    ],
    [
      'a value that throws for every question',
      () => {
        const { proxy, revoke } = Proxy.revocable({}, {})
        revoke()
        throw proxy
      },
      'Unknown error',
    ],
  ])(
    'An error that the tool body throws becomes a failed result: %s',
    async (_, body, errorMessage) => {
      expect(await start(body)).toEqual({
        result: { success: false, output: '', errorMessage },
        durationMs: 0,
        waitedMs: 0,
        end: 'threw',
      })
    },
  )

  it('An error that the tool body throws is logged with the name of the tool and the id of the call', async () => {
    const error = new Error('No network')
    const warn = vi.fn<typeof silentLogger.warn>()
    await start(() => Promise.reject(error), { logger: { ...silentLogger, warn } })
    expect(warn).toHaveBeenCalledExactlyOnceWith('Tool threw', {
      tool: 'work',
      callId: 'call-1',
      error,
    })
  })

  it('An error that the tool body throws becomes a failed result for a custom tool that throws before it returns a promise', async () => {
    const tool: AgentTool = {
      ...toolOf(() => ''),
      call() {
        throw new Error('Broken')
      },
    }
    const { result } = await runTool(tool, CALL, { clock })
    expect(result).toEqual(ToolResult.failure('Broken'))
  })
})

describe('[CORE-R2] the time limit of a call', () => {
  it('The time limit of a call aborts the signal of the tool with a TimeoutError and fails the call', async () => {
    const reasons: unknown[] = []
    const running = start(
      async ({ signal }) => {
        await sleep(clock, 10_000, signal)
        reasons.push(signal.reason)
        return 'too late'
      },
      { timeoutMs: 250 },
    )
    await clock.advance(10_000)
    expect(await running).toEqual({
      result: ToolResult.failure('Tool "work" timed out after 250 ms'),
      durationMs: 250,
      waitedMs: 0,
      end: 'timed_out',
    })
    expect(reasons).toEqual([expect.objectContaining({ name: 'TimeoutError' })])
  })

  it('The time limit of a call ends a call whose tool ignores its signal', async () => {
    const running = start(() => new Promise(() => undefined), { timeoutMs: 250 })
    const ended = vi.fn<(outcome: ToolCallOutcome) => void>()
    void running.then(ended)
    await clock.advance(249)
    expect(ended).not.toHaveBeenCalled()
    await clock.advance(1)
    expect(ended).toHaveBeenCalledOnce()
    expect(await running).toMatchObject({ durationMs: 250, end: 'timed_out' })
  })

  it('The time limit of a call is 30 s by default', async () => {
    const running = start(() => new Promise(() => undefined))
    await clock.advance(30_000)
    expect(await running).toMatchObject({ durationMs: 30_000, end: 'timed_out' })
  })

  it('The time limit of a call ignores later results and errors of the tool', async () => {
    const late = vi.fn<(outcome: ToolCallOutcome) => void>()
    const resolves = start(() => sleep(clock, 900).then(() => 'late'), { timeoutMs: 250 })
    const rejects = start(() => sleep(clock, 900).then(() => Promise.reject(new Error('late'))), {
      timeoutMs: 250,
    })
    void resolves.then(late)
    void rejects.then(late)
    await clock.advance(5_000)
    expect(late).toHaveBeenCalledTimes(2)
    expect((await resolves).end).toBe('timed_out')
    expect((await rejects).result).toEqual(ToolResult.failure('Tool "work" timed out after 250 ms'))
  })

  it('The time limit of a call makes a later abort of the caller ineffective', async () => {
    const controller = new AbortController()
    const running = start(() => new Promise(() => undefined), {
      timeoutMs: 250,
      signal: controller.signal,
    })
    await clock.advance(250)
    controller.abort()
    await clock.advance(60_000)
    expect((await running).end).toBe('timed_out')
  })
})

describe('[CORE-R3] an abort of the caller', () => {
  it('An abort of the caller before the call prevents the body', async () => {
    const body = vi.fn<Body>(() => 'ran')
    expect(await start(body, { signal: AbortSignal.abort() })).toEqual({
      result: ToolResult.failure('Tool "work" was cancelled'),
      durationMs: 0,
      waitedMs: 0,
      end: 'cancelled',
    })
    expect(body).not.toHaveBeenCalled()
  })

  it('An abort of the caller reaches the signal of the tool at once, with its reason', async () => {
    const controller = new AbortController()
    const reasons: unknown[] = []
    const running = start(
      ({ signal }) =>
        new Promise((resolve) => {
          signal.addEventListener('abort', () => {
            reasons.push(signal.reason)
            resolve('stopped')
          })
        }),
      { signal: controller.signal },
    )
    const reason = new Error('The user left')
    await clock.advance(70)
    controller.abort(reason)
    expect(reasons).toEqual([reason])
    expect(await running).toEqual({
      result: ToolResult.failure('Tool "work" was cancelled'),
      durationMs: 70,
      waitedMs: 0,
      end: 'cancelled',
    })
  })

  it('An aborted call waits for a tool that needs time to stop, and is reported as cancelled', async () => {
    const controller = new AbortController()
    const running = start(
      async ({ signal }) => {
        await sleep(clock, 10_000, signal)
        await sleep(clock, 400)
        return 'cleaned up'
      },
      { signal: controller.signal },
    )
    await clock.advance(100)
    controller.abort()
    await clock.advance(10_000)
    expect(await running).toMatchObject({ durationMs: 500, end: 'cancelled' })
  })

  it('A tool that throws because of an abort of the caller counts as cancelled', async () => {
    const controller = new AbortController()
    const running = start(
      async ({ signal }) => {
        await sleep(clock, 10_000, signal)
        signal.throwIfAborted()
        return 'never'
      },
      { signal: controller.signal },
    )
    await clock.advance(100)
    controller.abort(new Error('The user left'))
    expect(await running).toMatchObject({
      result: ToolResult.failure('Tool "work" was cancelled'),
      end: 'cancelled',
    })
  })

  it('A tool that ignores the abort of its caller is abandoned after 5 s, or after graceMs', async () => {
    const controller = new AbortController()
    const { signal } = controller
    const ignoring: Body = () => new Promise(() => undefined)
    const patient = start(ignoring, { signal, timeoutMs: 60_000 })
    const hasty = start(ignoring, { signal, timeoutMs: 60_000, graceMs: 20 })
    await clock.advance(1_000)
    controller.abort()
    await clock.advance(60_000)
    const message = 'Tool "work" was abandoned: it ignored its signal'
    expect(await patient).toEqual({
      result: ToolResult.failure(message),
      durationMs: 6_000,
      waitedMs: 0,
      end: 'abandoned',
    })
    expect(await hasty).toMatchObject({ durationMs: 1_020, end: 'abandoned' })
  })

  it('An abort of the caller stops the time limit: a call that ends in the grace time was cancelled', async () => {
    const controller = new AbortController()
    const running = start(() => sleep(clock, 3_000).then(() => 'done'), {
      signal: controller.signal,
      timeoutMs: 1_000,
    })
    await clock.advance(900)
    controller.abort()
    await clock.advance(10_000)
    expect(await running).toMatchObject({ durationMs: 3_000, end: 'cancelled' })
  })

  it('An aborted call ignores later results and errors of an abandoned tool', async () => {
    const controller = new AbortController()
    const { signal } = controller
    const late = vi.fn<(outcome: ToolCallOutcome) => void>()
    const warn = vi.fn<typeof silentLogger.warn>()
    const resolves = start(() => sleep(clock, 20_000).then(() => 'late'), { signal })
    const rejects = start(
      () => sleep(clock, 20_000).then(() => Promise.reject(new Error('late'))),
      {
        signal,
        logger: { ...silentLogger, warn },
      },
    )
    void resolves.then(late)
    void rejects.then(late)
    controller.abort()
    await clock.advance(60_000)
    expect(late).toHaveBeenCalledTimes(2)
    expect(await resolves).toMatchObject({ durationMs: 5_000, end: 'abandoned' })
    expect(await rejects).toMatchObject({ durationMs: 5_000, end: 'abandoned' })
    expect(warn).toHaveBeenCalledOnce()
  })
})

describe('[CORE-R4] the arguments of a call', () => {
  const add = vi.fn<(input: { a: number; b: number }) => string>(({ a, b }) => String(a + b))
  const tool = defineTool({
    name: 'add',
    description: 'Adds',
    input: Type.Object({ a: Type.Number(), b: Type.Number() }),
    execute: add,
  })
  const run = (args: string): Promise<ToolCallOutcome> =>
    runTool(tool, { id: 'call-1', name: 'add', arguments: args }, { clock })

  beforeEach(() => {
    add.mockClear()
  })

  it('The arguments of a call reach the body as a value when they are valid', async () => {
    expect((await run('{"a":1,"b":2}')).result).toEqual(ToolResult.success('3'))
    expect(add).toHaveBeenCalledOnce()
  })

  it.each(['{"a":1', 'a=1', '{a:1}', '{"a":1}{"b":2}'])(
    'The arguments of a call are reported as invalid JSON for the text %j',
    async (args) => {
      const { result, end, durationMs } = await run(args)
      expect(result.errorMessage).toMatch(
        /^Invalid input for "add": arguments are not valid JSON \(.+\)$/,
      )
      expect({ end, durationMs }).toEqual({ end: 'finished', durationMs: 0 })
      expect(add).not.toHaveBeenCalled()
    },
  )

  it('The arguments of a call are reported with every problem when they are invalid', async () => {
    expect((await run('{"a":"one"}')).result).toEqual(
      ToolResult.failure('Invalid input for "add": /b is required; /a must be a number, got "one"'),
    )
    expect(add).not.toHaveBeenCalled()
  })

  it('The arguments of a call are reported when they are not an object', async () => {
    expect((await run('null')).result.errorMessage).toContain('must be an object')
    expect((await run('[1,2]')).result.errorMessage).toContain('must be an object')
    expect(add).not.toHaveBeenCalled()
  })

  it.each(['', ' ', 'null', '""', '[]', ' [ ] '])(
    'The arguments of a call are an empty object when they are %j and no field is required',
    async (args) => {
      const execute = vi.fn<(input: { a?: string }) => string>(() => 'ok')
      const input = Type.Object({ a: Type.Optional(Type.String()) })
      const free = defineTool({ name: 'free', description: 'd', input, execute })
      const { result } = await runTool(free, { ...CALL, arguments: args }, { clock })
      expect(result).toEqual(ToolResult.success('ok'))
      expect(execute).toHaveBeenCalledExactlyOnceWith({}, expect.anything())
    },
  )

  it.each(['null', '""', '[]', '[[]]', '[null]', 'false', '0', '{"a":null,"b":[]}'])(
    'The arguments of a call are reported when they are %s and fields are required',
    async (args) => {
      expect((await run(args)).result.success).toBe(false)
      expect(add).not.toHaveBeenCalled()
    },
  )

  it.each(['[[]]', '[null]', 'false', '0', '"x"'])(
    'The arguments of a call are reported when they are %s and no field is required',
    async (args) => {
      const free = defineTool({
        name: 'free',
        description: 'd',
        input: Type.Object({}),
        execute: () => 'ok',
      })
      const { result } = await runTool(free, { ...CALL, arguments: args }, { clock })
      expect(result.errorMessage).toContain('must be an object')
    },
  )

  it.each(['', '  ', '\n'])(
    'The arguments of a call are an empty object when they are %j',
    async (args) => {
      const body = vi.fn<Body>(() => 'ok')
      await runTool(toolOf(body), { ...CALL, arguments: args }, { clock })
      expect(body).toHaveBeenCalledOnce()
      expect((await run(args)).result.errorMessage).toContain('/a is required; /b is required')
    },
  )
})

type Settings = Parameters<typeof runTool>[2] & { readonly timeoutMs?: number }

/** Runs a tool with that body on the fake clock. */
function start(body: Body, { timeoutMs, ...options }: Settings = {}): Promise<ToolCallOutcome> {
  return runTool(toolOf(body, timeoutMs), CALL, { clock, ...options })
}

function toolOf(body: Body, timeoutMs?: number): AgentTool {
  return defineTool({
    name: 'work',
    description: 'Works',
    input: Type.Object({}),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    execute: (_input, context) => body(context),
  })
}
