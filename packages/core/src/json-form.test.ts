import { Readable } from 'node:stream'

import { describe, expect, it } from 'vitest'

import { defineTool } from './definition/define-tool.ts'
import { toJsonForm } from './json-form.ts'
import { runTool } from './call/run-tool.ts'
import { silentLogger } from './logger.ts'
import { ToolResult } from './tool/tool-result.ts'

import type { ToolCallOutcome } from './tool/outcome.ts'

/** Runs a tool that returns the value. */
function returning(value: unknown): Promise<ToolCallOutcome> {
  const tool = defineTool({
    name: 'report',
    description: 'Returns a value',
    input: { type: 'object', properties: {} },
    execute: () => value as never,
  })
  return runTool(tool, { id: 'a', name: 'report', arguments: '{}' })
}

class Point {
  readonly x = 1
  get y(): number {
    return this.x + 1
  }
}

class Shown extends Point {
  override get y(): number {
    return 5
  }
}

class OnlyGetters {
  get total(): number {
    return 7
  }
}

class Secretive {
  readonly #secret = 1
  toJSON(): unknown {
    return { shown: this.#secret }
  }
}

describe('[CORE-V1] [CORE-V2] [CORE-V3] [CORE-V5] the result of a tool that returns a value with a natural JSON form', () => {
  it.each<[string, unknown, string]>([
    ['a map with names as keys', new Map([['a', 1]]), '{"a":1}'],
    [
      'a map with other keys',
      new Map([[{ id: 1 }, new Map([[1, 'x']])]]),
      '[[{"id":1},{"1":"x"}]]',
    ],
    ['a map with the key __proto__', new Map([['__proto__', 1]]), '{"__proto__":1}'],
    ['a set', new Set([1, 'a', new Set([2])]), '[1,"a",[2]]'],
    [
      'numbers that JSON cannot write',
      { mean: NaN, most: Infinity, least: -Infinity },
      '{"mean":"NaN","most":"Infinity","least":"-Infinity"}',
    ],
    ['a number that JSON cannot write', NaN, '"NaN"'],
    [
      'an error within a value',
      { errors: [new Error('Disk full', { cause: 'quota' })] },
      '{"errors":["Disk full: quota"]}',
    ],
    ['a regular expression', { pattern: /^a"b$/i }, '{"pattern":"/^a\\"b$/i"}'],
    [
      'an invalid date',
      { at: new Date(NaN), next: new Date(0) },
      '{"at":"Invalid Date","next":"1970-01-01T00:00:00.000Z"}',
    ],
    ['an object with getters', new Point(), '{"y":2,"x":1}'],
    ['an object with overridden getters', [new Shown()], '[{"y":5,"x":1}]'],
    ['an object with getters only', new OnlyGetters(), '{"total":7}'],
    [
      'an object with toJSON',
      [new Secretive(), new URL('https://a.example/')],
      '[{"shown":1},"https://a.example/"]',
    ],
    ['a bigint', { id: 725653563933458432n, list: [5n] }, '{"id":725653563933458432,"list":[5]}'],
    ['fields without a value', { a: undefined, b: [1, undefined] }, '{"b":[1,null]}'],
    ['an object of another realm', Object.assign(Object.create(null), { a: 1 }), '{"a":1}'],
    ['the same object twice', [POINTS, POINTS], '[[1],[1]]'],
    ['boxed values', [Object(1), Object('a'), Object(true)], '[1,"a",true]'],
    ['a sparse list', sparse(), '[null,1]'],
  ])(
    'The result of a tool that returns a value with a natural JSON form is its JSON text: %s',
    async (_, value, text) => {
      const { result, end } = await returning(value)
      expect(end).toBe('finished')
      expect(result).toMatchObject({ success: true, output: text })
      expect(JSON.parse(JSON.stringify(result.structured))).toEqual(
        JSON.parse(text.replace('725653563933458432', '"725653563933458432"')),
      )
    },
  )

  it('The result of a tool that returns a value with a natural JSON form has the value itself as its structured result if the value is JSON', async () => {
    const value = { a: [1, { b: new Date(0) }] }
    expect((await returning(value)).result.structured).toBe(value)
  })
})

const POINTS = [1]

function sparse(): unknown[] {
  const list: unknown[] = []
  list[1] = 1
  return list
}

describe('[CORE-V4] the result of a tool that returns a value without a JSON form', () => {
  const loop: Record<string, unknown> = { items: [] }
  loop['items'] = [loop]
  const map = new Map<string, unknown>()
  map.set('self', map)

  it.each<[unknown, string]>([
    [() => 1, 'the value is a function'],
    [{ run: () => 1 }, '/run is a function'],
    [Symbol('s'), 'the value is a symbol'],
    [[Symbol('s')], '/0 is a symbol'],
    [{ response: new Response('x') }, '/response is a Response'],
    [new ReadableStream(), 'the value is a ReadableStream'],
    [Readable.from(['a']), 'the value is a Readable'],
    [generate(), 'the value is an AsyncGenerator'],
    [[1].values(), 'the value is an Array Iterator'],
    [{ later: Promise.resolve(1) }, '/later is a Promise'],
    [new WeakMap(), 'the value is a WeakMap'],
    [new ArrayBuffer(8), 'the value is an ArrayBuffer'],
    [new Headers(), 'the value is a Headers'],
    [new Blob([]), 'the value is a Blob'],
    [loop, '/items/0 contains itself'],
    [map, '/self contains itself'],
    [
      {
        get 'a/b'() {
          throw new Error('Not loaded')
        },
      },
      'the value cannot be read: Not loaded',
    ],
    [{ toJSON: () => undefined }, 'the value has no JSON form'],
    [
      {
        toJSON() {
          throw new Error('Not loaded')
        },
      },
      'Not loaded',
    ],
  ])(
    'The result of a tool that returns a value without a JSON form is a failure that names the tool, the path and the type (%#)',
    async (value, problem) => {
      const { result } = await returning(value)
      expect(result.success).toBe(false)
      expect(result.errorMessage).toContain(problem)
      if (problem !== 'Not loaded') {
        expect(result.errorMessage).toBe(`Tool "report" returned no JSON: ${problem}`)
      }
    },
  )

  it('The result of a tool that returns a value without a JSON form is a failure with its message when it is an error', async () => {
    const { result } = await returning(new Error('No such user', { cause: 'id 5' }))
    expect(result).toEqual(ToolResult.failure('No such user: id 5'))
  })

  it('The result of a tool that returns a value without a JSON form is a failure when the value is nested deeper than the stack', async () => {
    let deep: unknown = 1
    for (let level = 0; level < 100_000; level += 1) deep = [deep]
    const { result } = await returning(deep)
    expect(result.success).toBe(false)
    expect(result.errorMessage).toContain('is nested too deeply')
    expect(result.errorMessage?.length).toBeLessThan(10_000)
  })
})

async function* generate(): AsyncGenerator<number> {
  yield await Promise.resolve(1)
}

describe('a structured result that a tool made', () => {
  const call = { id: 'a', name: 't', arguments: '{}' }
  const tool = (result: ToolResult): Parameters<typeof runTool>[0] =>
    defineTool({
      name: 't',
      description: 'd',
      input: { type: 'object', properties: {} },
      execute: () => result,
    })

  it('A structured result that a tool made is converted to JSON, also for a failure', async () => {
    const value = { ids: new Set([9007199254740993n]) }
    const failure = Object.assign(ToolResult.failure('No'), { structured: value })
    expect((await runTool(tool(ToolResult.success('x', value)), call)).result).toEqual(
      ToolResult.success('x', { ids: ['9007199254740993'] }),
    )
    expect((await runTool(tool(failure), call)).result).toMatchObject({
      errorMessage: 'No',
      structured: { ids: ['9007199254740993'] },
    })
  })

  it('A structured result that a tool made is left to the caller with a warning when it has no JSON form, because the text is the result', async () => {
    const warnings: unknown[] = []
    const logger = { ...silentLogger, warn: (...entry: unknown[]) => void warnings.push(entry) }
    const { result } = await runTool(tool(ToolResult.success('x', { f: () => 1 })), call, {
      logger,
    })
    expect(result.output).toBe('x')
    expect(warnings).toEqual([
      ['Structured result has no JSON form', { tool: 't', problem: '/f is a function' }],
    ])
  })
})

describe('toJsonForm', () => {
  it('toJsonForm never throws', () => {
    const { proxy, revoke } = Proxy.revocable({}, {})
    revoke()
    expect(toJsonForm(proxy)).toMatchObject({ ok: false })
    expect(toJsonForm({ a: proxy })).toMatchObject({
      ok: false,
      problem: expect.stringMatching(/^\/a /),
    })
  })
})
