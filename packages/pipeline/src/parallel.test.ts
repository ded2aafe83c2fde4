import { beforeEach, describe, expect, it } from 'vitest'

import { createLimiter, defineTool, ToolResult, TuttiError, Type } from '@tutti/core'
import { sleep } from '@tutti/core/internal'
import { fakeClock, type FakeClock } from '@tutti/testing'
import { isPartFailure, parallel, pipeline } from './index.ts'
import { call, type Followed } from '../test/call.ts'
import { failOnUnhandledRejections } from '../test/leaks.ts'
import { textTool, throwingTool } from '../test/text-tools.ts'

import type { AgentTool, RunToolOptions, TypedTool } from '@tutti/core'

failOnUnhandledRejections()

let clock: FakeClock

beforeEach(() => {
  clock = fakeClock()
})

const read = defineTool({
  name: 'read',
  description: 'Reads a page',
  input: Type.Object({ url: Type.String() }),
  output: Type.Object({ text: Type.String() }),
  execute: ({ url }) => ({ text: `page ${url}` }),
})
const rank = defineTool({
  name: 'rank',
  description: 'Ranks a page',
  input: Type.Object({ url: Type.String(), scale: Type.Integer({ default: 10 }) }),
  output: Type.Number(),
  execute: ({ url, scale }) => url.length / scale,
})

/** A tool that runs for `ms`, stops at its signal, and logs when it begins and how it ends. */
function slow(name: string, ms: number, log: string[] = []): TypedTool<string> {
  return textTool(name, async (_, { signal }) => {
    log.push(`${name} begins`)
    await sleep(clock, ms, signal)
    log.push(`${name} ${signal.aborted ? 'stopped' : 'done'} at ${clock.elapsed()}`)
    return name
  })
}

async function callIn(
  ms: number,
  tool: AgentTool,
  options: RunToolOptions = {},
): Promise<Followed> {
  const running = call(tool, { input: 'x', url: 'u' }, { clock, ...options })
  await clock.advance(ms)
  return running
}

describe('the branches of parallel', () => {
  it('The branches of parallel receive the same input, and their results are returned by name', async () => {
    const tool = parallel({ page: read, rank, note: textTool('note') })
    const value = { page: { text: 'page u' }, rank: 0.1, note: '{"url":"u"}>note' }
    const { result, inputs } = await call(tool, { url: 'u' })
    expect(result).toEqual(ToolResult.success(JSON.stringify(value), value))
    expect(inputs.toSorted()).toEqual(['"{\\"url\\":\\"u\\"}"', '{"url":"u"}', '{"url":"u"}'])
  })

  it('The branches of parallel receive the text if all are text tools', async () => {
    const tool = parallel({ a: textTool('a'), b: textTool('b') })
    expect(tool.kind).toBe('text')
    expect((await call(tool, { input: 'x' })).result.structured).toEqual({ a: 'x>a', b: 'x>b' })
    expect((await call(pipeline([read, tool]), { url: 'u' })).result.structured).toEqual({
      a: '{"text":"page u"}>a',
      b: '{"text":"page u"}>b',
    })
  })

  it('[PIPE-F1] The branches of parallel run at the same time, and the results are in the order of the branches', async () => {
    const tool = parallel({ a: slow('a', 300), b: slow('b', 100), c: slow('c', 200) })
    const { result, steps, durationMs } = await callIn(300, tool)
    expect(durationMs).toBe(300)
    expect(result.output).toBe('{"a":"a","b":"b","c":"c"}')
    expect(steps).toEqual(['c/b b finished', 'c/c c finished', 'c/a a finished'])
  })

  it('The branches of parallel run with the given concurrency', async () => {
    const log: string[] = []
    const branches = { a: slow('a', 100, log), b: slow('b', 100, log), c: slow('c', 100, log) }
    const { durationMs } = await callIn(1_000, parallel(branches, { concurrency: 2 }))
    expect(durationMs).toBe(200)
    expect(log.indexOf('c begins')).toBeGreaterThan(log.indexOf('a done at 100'))
  })

  it('The branches of parallel can have any name', async () => {
    const tool = parallel({ 'a/b c': textTool('a'), ['__proto__']: textTool('b') })
    expect(tool.name).toBe('a_b_c_and___proto__')
    const { result } = await call(tool, { input: 'x' })
    expect(result.output).toBe('{"a/b c":"x>a","__proto__":"x>b"}')
  })
})

describe('[PIPE-F2] FAIL_FAST', () => {
  it('FAIL_FAST stops the other branches at the first failure, which names its branch', async () => {
    const log: string[] = []
    const failing = textTool('failing', async () => {
      await sleep(clock, 50)
      return ToolResult.failure('No network')
    })
    const tool = parallel({ a: slow('a', 300, log), b: failing, c: slow('c', 10, log) })
    const { result, steps, durationMs, end } = await callIn(1_000, tool)
    expect(result).toEqual(ToolResult.failure("Branch 'b' failed: No network"))
    expect(log).toEqual(['a begins', 'c begins', 'c done at 10', 'a stopped at 50'])
    expect(steps).toEqual(['c/c c finished', 'c/b failing finished', 'c/a a cancelled'])
    expect([durationMs, end]).toEqual([50, 'finished'])
  })

  it('FAIL_FAST starts no other branch after a failure', async () => {
    const log: string[] = []
    const tool = parallel({ a: throwingTool('a'), b: slow('b', 10, log) }, { concurrency: 1 })
    const { result, steps } = await callIn(100, tool)
    expect(result.errorMessage).toBe("Branch 'a' failed: No network")
    expect(log).toEqual([])
    expect(steps).toEqual(['c/a a threw'])
  })

  it('FAIL_FAST waits for a branch that ignores its signal until it is abandoned', async () => {
    const deaf = textTool('deaf', () => new Promise<string>(() => undefined))
    const tool = parallel({ a: throwingTool('a'), b: deaf })
    const { steps, durationMs } = await callIn(60_000, tool)
    expect(steps).toEqual(['c/a a threw', 'c/b deaf abandoned'])
    expect(durationMs).toBe(5_000)
  })

  it('FAIL_FAST treats a branch that returns text instead of its declared value as failed', async () => {
    const careless = defineTool({
      name: 'careful',
      description: 'Declares a value',
      input: Type.Object({}),
      output: Type.Object({}),
      execute: () => 'Nothing',
    })
    const { result } = await call(parallel({ a: careless }), {})
    expect(result.errorMessage).toBe(
      'Branch \'a\' failed: Tool "careful" returned text instead of the value that it declares as output',
    )
  })
})

describe('[PIPE-F3] CONTINUE_ON_FAILURE', () => {
  it('CONTINUE_ON_FAILURE runs every branch, and returns failures in place of results', async () => {
    const branches = {
      a: throwingTool('a', 'No network'),
      b: slow('b', 100),
      c: textTool('c', () => ToolResult.failure('No such page')),
      d: textTool('d', () => new Promise<string>(() => undefined), { timeoutMs: 50 }),
    }
    const tool = parallel(branches, { errorStrategy: 'CONTINUE_ON_FAILURE' })
    const { result, steps } = await callIn(100, tool)
    expect(result.success).toBe(true)
    expect(result.structured).toEqual({
      a: { error: 'No network' },
      b: 'b',
      c: { error: 'No such page' },
      d: { error: 'Tool "d" timed out after 50 ms' },
    })
    expect(steps).toHaveLength(4)
  })

  it('CONTINUE_ON_FAILURE still rejects invalid input, which is the same for all branches', async () => {
    const tool = parallel({ rank }, { errorStrategy: 'CONTINUE_ON_FAILURE' })
    const { result } = await call(tool, {})
    expect(result.errorMessage).toBe('Invalid input for "rank": /url is required')
  })

  it('CONTINUE_ON_FAILURE returns failures that isPartFailure recognizes', () => {
    expect(isPartFailure({ error: 'No network' })).toBe(true)
    for (const value of ['error', null, { error: 7 }, { error: '', page: 1 }, ['error'], {}]) {
      expect(isPartFailure(value)).toBe(false)
    }
  })
})

describe('[PIPE-F4] early exit and misconfiguration', () => {
  it.each([
    ['FAIL_FAST', 'EXIT_EARLY', 'exit_early'],
    ['CONTINUE_ON_FAILURE', 'TOOL_CONFIGURATION', 'misconfigured'],
  ] as const)(
    'Early exit and misconfiguration stop the other branches and end the call with %s',
    async (errorStrategy, code, end) => {
      const log: string[] = []
      const error = new TuttiError(code, 'Stop')
      const stopping = textTool('stopping', () => {
        throw error
      })
      const branches = { a: slow('a', 300, log), b: stopping, c: slow('c', 10, log) }
      const tool = parallel(branches, { errorStrategy, concurrency: 2 })
      const outcome = await callIn(1_000, tool)
      expect(outcome).toMatchObject({ end, error })
      expect(log).toEqual(['a begins', 'a stopped at 0'])
    },
  )
})

describe('a parallel tool', () => {
  it('A parallel tool is named and described by its branches', () => {
    expect(parallel({ page: read, rank })).toMatchObject({
      name: 'page_and_rank',
      description: 'Parallel: page (read), rank (rank)',
      timeoutMs: 30_000,
      idempotent: true,
    })
    expect(parallel({ page: read }, { name: 'p', description: 'P', timeoutMs: 5 })).toMatchObject({
      name: 'p',
      description: 'P',
      timeoutMs: 5,
    })
  })

  it('A parallel tool accepts what all branches require', () => {
    expect(parallel({ page: read, rank }).inputSchema).toMatchObject({
      required: ['url', 'scale'],
      properties: { url: { type: 'string' }, scale: { type: 'integer', default: 10 } },
    })
  })

  it('A parallel tool has an output schema', () => {
    const branches = { page: read, note: textTool('note') }
    expect(parallel(branches).outputSchema).toEqual(
      Type.Object({ page: Type.Object({ text: Type.String() }), note: Type.String() }),
    )
    const lenient = parallel(branches, { errorStrategy: 'CONTINUE_ON_FAILURE' })
    const Failure = Type.Object({ error: Type.String() })
    expect(lenient.outputSchema).toEqual(
      Type.Object({
        page: Type.Union([Type.Object({ text: Type.String() }), Failure]),
        note: Type.Union([Type.String(), Failure]),
      }),
    )
  })

  it('A parallel tool adjusts references in the output schemas of its branches', () => {
    const tree = { ...read, outputSchema: { type: 'array', items: { $ref: '#' } } }
    expect(parallel({ tree }).outputSchema).toMatchObject({
      properties: { tree: { items: { $ref: '#/properties/tree' } } },
    })
    const lenient = parallel({ tree }, { errorStrategy: 'CONTINUE_ON_FAILURE' })
    expect(lenient.outputSchema).toMatchObject({
      properties: { tree: { anyOf: [{ items: { $ref: '#/properties/tree/anyOf/0' } }, {}] } },
    })
  })

  it('A parallel tool has the time limit of the slowest branch, or the sum if not all run at once', () => {
    const short = textTool('short', (text) => text, { timeoutMs: 1_000 })
    expect(parallel({ short, read }).timeoutMs).toBe(30_000)
    expect(parallel({ short, read }, { concurrency: 2 }).timeoutMs).toBe(30_000)
    expect(parallel({ short, read }, { concurrency: 1 }).timeoutMs).toBe(31_000)
  })

  it('A parallel tool runs branches that share a limiter one after the other', async () => {
    const limiter = createLimiter({ maxConcurrent: 1, clock })
    const shared = (name: string): TypedTool<string> => ({ ...slow(name, 100), limiter })
    const { durationMs } = await callIn(1_000, parallel({ a: shared('a'), b: shared('b') }))
    expect(durationMs).toBe(200)
  })
})

describe('[PIPE-C3] an invalid definition of parallel throws a TypeError', () => {
  const careless = parallel as (branches: object, options?: object) => AgentTool

  it('An invalid definition of parallel throws a TypeError that names every problem', () => {
    const options = { errorStrategy: 'RETRY', concurrency: 0.5, timeoutMs: -1 }
    expect(() => careless({ a: null, b: read }, options)).toThrow(TypeError)
    expect(() => careless({ a: null, b: read }, options)).toThrow(
      "Cannot create a parallel tool: branch 'a' must be a tool, got null; errorStrategy must be " +
        '"FAIL_FAST" or "CONTINUE_ON_FAILURE", got "RETRY"; concurrency must be an integer >= 1 or ' +
        'Infinity, got 0.5; Cannot define tool "unnamed": timeoutMs must be > 0, got -1',
    )
  })

  it('A parallel tool without branches, or with a name that is too long, throws a TypeError', () => {
    expect(() => careless({})).toThrow(
      'Cannot create a parallel tool: at least one branch is required',
    )
    expect(() => parallel({ ['a'.repeat(40)]: read, ['b'.repeat(40)]: read })).toThrow(
      /set a name, because "a+_and_b+" has 85 of at most 64 characters/,
    )
  })
})
