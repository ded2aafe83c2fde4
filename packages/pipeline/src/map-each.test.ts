import { beforeEach, describe, expect, it } from 'vitest'

import { defineTool, toolContext, ToolResult, Type } from '@tutti/core'
import { sleep } from '@tutti/core/internal'
import { fakeClock, type FakeClock } from '@tutti/testing'
import { mapEach, pipeline, pipelineBuilder } from './index.ts'
import { call } from '../test/call.ts'
import { failOnUnhandledRejections } from '../test/leaks.ts'
import { textTool } from '../test/text-tools.ts'

import type { AgentTool } from '@tutti/core'

failOnUnhandledRejections()

let clock: FakeClock
let running = 0
let mostRunning = 0

beforeEach(() => {
  clock = fakeClock()
  running = 0
  mostRunning = 0
})

/** Creates a tool that waits for its input in milliseconds, and fails if it is a multiple of `badEvery`. */
// oxlint-disable-next-line typescript/explicit-function-return-type -- the type is what `defineTool` infers
function waiting(badEvery = Infinity) {
  return defineTool({
    name: 'wait',
    description: 'Waits',
    input: Type.Object({ ms: Type.Integer({ minimum: 0 }) }),
    output: Type.Object({ waited: Type.Integer() }),
    async execute({ ms }, { signal }) {
      running += 1
      mostRunning = Math.max(mostRunning, running)
      await sleep(clock, ms, signal)
      running -= 1
      signal.throwIfAborted()
      return ms % badEvery === 0 ? ToolResult.failure(`Bad ${ms}`) : { waited: ms }
    },
  })
}

const list = defineTool({
  name: 'list',
  description: 'Lists times',
  input: Type.Object({}),
  output: Type.Array(Type.Object({ ms: Type.Integer() })),
  execute: () => [{ ms: 30 }, { ms: 10 }, { ms: 20 }],
})

describe('[PIPE-M1] the input of mapEach', () => {
  it('The input of mapEach can be an object with items, as models write it', async () => {
    const tool = mapEach(waiting())
    expect(tool.inputSchema).toEqual(
      Type.Object({ items: Type.Array(Type.Object({ ms: Type.Integer({ minimum: 0 }) })) }),
    )
    const called = call(tool, { items: [{ ms: 1 }, { ms: '2' }] }, { clock })
    await clock.advance(10)
    expect((await called).result.structured).toEqual([{ waited: 1 }, { waited: 2 }])
  })

  it('The input of mapEach can be a list from the previous step', async () => {
    const called = call(pipeline([list, mapEach(waiting())]), {}, { clock })
    await clock.advance(100)
    const { result, steps } = await called
    expect(result).toEqual(
      ToolResult.success('[{"waited":30},{"waited":10},{"waited":20}]', [
        { waited: 30 },
        { waited: 10 },
        { waited: 20 },
      ]),
    )
    expect(steps).toEqual([
      'c/1:list list finished',
      'c/2:each_wait/#1 wait finished',
      'c/2:each_wait/#2 wait finished',
      'c/2:each_wait/#0 wait finished',
      'c/2:each_wait each_wait finished',
    ])
  })

  it('The input of mapEach can be a list from an adapter', async () => {
    const tool = pipelineBuilder()
      .step(textTool('a'))
      .adapter(({ output }) => output.split(','))
      .step(mapEach(textTool('b')))
      .build()
    expect((await call(tool, { input: 'x,y' })).result.structured).toEqual(['x>b', 'y>a>b'])
  })

  it('The input of mapEach can be JSON text of a list from the previous step', async () => {
    const spelling = textTool('spelling', () => '["x", 7, {"a": 1}]') as AgentTool
    const tool = pipeline([spelling, mapEach(textTool('b'))])
    expect((await call(tool, { input: '' })).result.structured).toEqual(['x>b', '7>b', '{"a":1}>b'])
  })

  it('The input of mapEach can be JSON text of a list from a model', async () => {
    for (const text of ['["x"]', '{"items":["x"]}']) {
      expect((await call(mapEach(textTool('b')), text)).result.structured).toEqual(['x>b'])
    }
  })

  it('The input of mapEach is a list of strings for a text tool', async () => {
    const tool = mapEach(textTool('b'))
    expect(tool.inputSchema).toEqual(Type.Object({ items: Type.Array(Type.String()) }))
    expect(tool.kind).toBe('typed')
    expect((await call(tool, { items: ['x', 'y'] })).result.output).toBe('["x>b","y>b"]')
  })

  it('The input of mapEach is rejected if it is not a list', async () => {
    const { result } = await call(mapEach(waiting()), {})
    expect(result.errorMessage).toBe('Invalid input for "each_wait": /items is required')
  })
})

describe('[PIPE-M2] invalid items', () => {
  it('Invalid items prevent every call with FAIL_FAST, and are all reported', async () => {
    const input = { items: [{ ms: 1 }, { ms: -1 }, {}] }
    const { result, steps } = await call(mapEach(waiting()), input, { clock })
    expect(result.errorMessage).toBe(
      'Invalid input for "each_wait": /items/1/ms must be >= 0, got -1; /items/2/ms is required',
    )
    expect(steps).toEqual([])
  })

  it('Invalid items are no longer checked after many problems', async () => {
    const items = Array.from({ length: 5_000 }, () => ({}))
    const { result } = await call(mapEach(waiting()), { items }, { clock })
    expect(result.errorMessage?.split(';')).toHaveLength(100)
  })

  it('Invalid items are failed items with CONTINUE_ON_FAILURE', async () => {
    const tool = mapEach(waiting(), { errorStrategy: 'CONTINUE_ON_FAILURE' })
    const called = call(tool, { items: [{ ms: 1 }, {}, { ms: -1 }] }, { clock })
    await clock.advance(1)
    const { result } = await called
    expect(result.success).toBe(true)
    expect(result.structured).toEqual([
      { waited: 1 },
      { error: 'Invalid input for "wait": /ms is required' },
      { error: 'Invalid input for "wait": /ms must be >= 0, got -1' },
    ])
  })
})

describe('[PIPE-M3] the results of mapEach', () => {
  it('[PIPE-F1] The results of mapEach are in the order of the items, with four calls at a time', async () => {
    const items = Array.from({ length: 9 }, (_, index) => ({ ms: 90 - index * 10 }))
    const called = call(mapEach(waiting()), { items }, { clock })
    await clock.advance(1_000)
    const { result } = await called
    expect(result.structured).toEqual(items.map(({ ms }) => ({ waited: ms })))
    expect(mostRunning).toBe(4)
  })

  it.each([
    [1, 1],
    [3, 3],
    [Infinity, 9],
  ])(
    'The results of mapEach come from at most %2$d calls at a time with the concurrency %1$d',
    async (concurrency, most) => {
      const items = Array.from({ length: 9 }, () => ({ ms: 10 }))
      const called = call(mapEach(waiting(), { concurrency }), { items }, { clock })
      await clock.advance(1_000)
      expect((await called).result.success).toBe(true)
      expect(mostRunning).toBe(most)
    },
  )

  it('The results of mapEach are an empty list without items', async () => {
    const { result, steps } = await call(mapEach(waiting()), { items: [] })
    expect(result).toEqual(ToolResult.success('[]', []))
    expect(steps).toEqual([])
  })

  it('The results of mapEach are complete for a thousand items, with an event for each', async () => {
    const items = Array.from({ length: 1_000 }, (_, index) => String(index))
    const { result, steps } = await call(mapEach(textTool('b')), { items })
    expect(result.structured).toEqual(items.map((item) => `${item}>b`))
    expect(new Set(steps).size).toBe(1_000)
  })

  it('The results of mapEach are replaced by the first failure, which names its item', async () => {
    const items = [{ ms: 40 }, { ms: 25 }, { ms: 99 }]
    const called = call(mapEach(waiting(25), { concurrency: 2 }), { items }, { clock })
    await clock.advance(1_000)
    const { result, steps, durationMs } = await called
    expect(result).toEqual(ToolResult.failure('Item 1 failed: Bad 25'))
    expect(steps).toEqual(['c/#1 wait finished', 'c/#0 wait cancelled'])
    expect(durationMs).toBe(25)
  })

  it('The results of mapEach can be failures with CONTINUE_ON_FAILURE', async () => {
    const items = [{ ms: 40 }, { ms: 25 }, { ms: 99 }]
    const tool = mapEach(waiting(25), { errorStrategy: 'CONTINUE_ON_FAILURE' })
    const called = call(tool, { items }, { clock })
    await clock.advance(1_000)
    expect((await called).result.structured).toEqual([
      { waited: 40 },
      { error: 'Bad 25' },
      { waited: 99 },
    ])
  })

  it('The results of mapEach need no list when execute is called directly', async () => {
    const each = mapEach(textTool('b'))
    expect(await each.execute(['x'], toolContext())).toEqual(ToolResult.success('["x>b"]', ['x>b']))
    expect(await each.execute({ items: ['x'] }, toolContext())).toEqual(
      ToolResult.success('["x>b"]', ['x>b']),
    )
  })
})

describe('a mapEach tool', () => {
  it('A mapEach tool is named and described by its tool, and has no time limit', () => {
    expect(mapEach(waiting())).toMatchObject({
      name: 'each_wait',
      description: 'For each item: wait',
      timeoutMs: Infinity,
      idempotent: true,
    })
    expect(mapEach(waiting(), { name: 'e', timeoutMs: 9 })).toMatchObject({
      name: 'e',
      timeoutMs: 9,
    })
  })

  it('A mapEach tool has an output schema with adjusted references', () => {
    expect(mapEach(waiting()).outputSchema).toEqual(
      Type.Array(Type.Object({ waited: Type.Integer() })),
    )
    const tree = {
      ...waiting(),
      inputSchema: { type: 'object', properties: { next: { $ref: '#' } } },
      outputSchema: { type: 'array', items: { $ref: '#' } },
    }
    expect(mapEach(tree).outputSchema).toMatchObject({ items: { items: { $ref: '#/items' } } })
    expect(mapEach(tree).inputSchema).toMatchObject({
      properties: {
        items: { items: { properties: { next: { $ref: '#/properties/items/items' } } } },
      },
    })
    expect(mapEach(textTool('b')).outputSchema).toEqual(Type.Array(Type.String()))
    expect(
      mapEach(textTool('b'), { errorStrategy: 'CONTINUE_ON_FAILURE' }).outputSchema,
    ).toMatchObject({ items: { anyOf: [{ type: 'string' }, { required: ['error'] }] } })
  })

  it('A mapEach tool can be nested for a list of lists', async () => {
    const tool = mapEach(mapEach(textTool('b')))
    const { result, steps } = await call(tool, { items: [{ items: ['x'] }, ['y', 'z']] })
    expect(result.structured).toEqual([['x>b'], ['y>b', 'z>b']])
    expect(steps).toContain('c/#1/#0 b finished')
  })

  it('A mapEach tool throws a TypeError that names every problem of its definition', () => {
    const careless = mapEach as (tool: unknown, options?: object) => AgentTool
    expect(() => careless(null, { concurrency: 0, errorStrategy: '' })).toThrow(
      new TypeError(
        'Cannot create a mapEach tool: the argument of mapEach must be a tool, got null; ' +
          'errorStrategy must be "FAIL_FAST" or "CONTINUE_ON_FAILURE", got ""; ' +
          'concurrency must be an integer >= 1 or Infinity, got 0',
      ),
    )
    expect(() => mapEach(textTool('a'.repeat(60)))).toThrow(/set a name, because "each_a+" has 65/)
  })
})
