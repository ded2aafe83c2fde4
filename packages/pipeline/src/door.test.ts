import { describe, expect, it } from 'vitest'

import { defineTool, Type } from '@tutti/core'
import { doorTo } from './door.ts'
import { branch, mapEach, parallel, pipeline } from './index.ts'
import { call } from '../test/call.ts'
import { textTool } from '../test/text-tools.ts'

import type { AgentTool, StandardToolSchema } from '@tutti/core'

/** A schema that changes what it reads, as transforms of Zod do: text to its length. */
function measuring(
  onRead: (value: unknown) => void,
): StandardToolSchema<{ text: string }, { length: number }> {
  const jsonSchema = (): Record<string, unknown> =>
    Type.Object({ text: Type.String() }) as unknown as Record<string, unknown>
  return {
    '~standard': {
      version: 1,
      vendor: 'test',
      validate(value) {
        onRead(value)
        const { text } = value as { text?: unknown }
        if (typeof text !== 'string')
          return { issues: [{ message: 'must be text', path: ['text'] }] }
        return { value: { length: text.length } }
      },
      jsonSchema: { input: jsonSchema, output: jsonSchema },
    },
  }
}

const defaults = defineTool({
  name: 'defaults',
  description: 'Has a default',
  input: Type.Object({ days: Type.Integer(), unit: Type.String({ default: 'celsius' }) }),
  execute: (input) => JSON.stringify(input),
})

describe('[D1] the input is checked, and goes on as it came', () => {
  it('a schema that changes what it reads does so once for the body', async () => {
    const readings: unknown[] = []
    const measure = defineTool({
      name: 'measure',
      description: 'Measures',
      input: measuring((value) => readings.push(value)),
      execute: ({ length }) => String(length),
    })
    const tools: readonly AgentTool[] = [
      pipeline(measure, textTool('b')),
      pipeline(pipeline(pipeline(measure))),
      parallel({ a: measure }),
      branch(() => true, { yes: measure }),
    ]
    for (const tool of tools) {
      const { result } = await call(tool, { text: 'four' })
      expect(result.output).toContain('4')
    }
    const each = await call(mapEach(measure), { items: [{ text: 'four' }] })
    expect(each.result.structured).toEqual(['4'])
    expect(readings).toContainEqual({ text: 'four' })
    expect(readings.every((value) => !('length' in Object(value)))).toBe(true)
  })

  it('slips of form are mended by the step that reads them', async () => {
    const { result, inputs } = await call(pipeline(defaults), { days: '5' })
    expect(inputs).toEqual(['{"days":"5"}'])
    expect(result.output).toBe('{"days":5,"unit":"celsius"}')
  })

  it('what a strict step refuses, the whole refuses', async () => {
    const strict = defineTool({
      name: 'strict',
      description: 'Mends nothing',
      input: Type.Object({ days: Type.Integer() }),
      coerce: false,
      execute: ({ days }) => String(days),
    })
    const { steps, result } = await call(pipeline(strict), { days: '5' })
    expect([result.success, steps]).toEqual([false, []])
  })

  it('JSON text of an object is read as the object', async () => {
    const entered = await doorTo([defaults]).enter(' {"days": 5}')
    expect(entered).toEqual({
      ok: true,
      entry: { value: { days: 5 }, seen: { days: 5, unit: 'celsius' } },
    })
  })

  it.each<[string, AgentTool, unknown, string]>([
    [
      'a pipeline',
      pipeline({ name: 'p' }, defaults),
      { days: 'x' },
      '/days must be an integer, got "x"',
    ],
    ['branches', parallel({ a: defaults }, { name: 'p' }), {}, '/days is required'],
    ['a text pipeline', pipeline({ name: 'p' }, textTool('a')), {}, '/input is required'],
    ['a key with a slash', pipeline({ name: 'p' }, oddKeys()), {}, '/a~1b~0c is required'],
  ])(
    '[C1] what does not fit is refused in the words of tools: %s',
    async (_, tool, input, problem) => {
      const { result, end, steps } = await call(tool, input)
      expect(result.errorMessage).toBe(`Invalid input for "p": ${problem}`)
      expect(end).toBe('finished')
      expect(steps).toEqual([])
    },
  )

  it('the whole is a Standard Schema of its input, as any tool is', async () => {
    const { validate, jsonSchema } = pipeline(defaults)['~standard']
    expect(await validate({ days: 5 })).toMatchObject({ value: { days: 5 } })
    expect(await validate({ days: 'x' })).toMatchObject({ issues: [{ path: ['days'] }] })
    expect(jsonSchema.input({ target: 'draft-2020-12' })).toBe(defaults.inputSchema)
    expect(jsonSchema.output({ target: 'draft-07' })).toBe(defaults.inputSchema)
    const since2019 = {
      ...defaults,
      inputSchema: { type: 'object', dependentRequired: { a: ['b'] } },
    }
    const other = pipeline(since2019)['~standard'].jsonSchema
    expect(() => other.input({ target: 'draft-07' })).toThrow(/dependentRequired/)
    const text = pipeline(textTool('a'), textTool('b'))['~standard']
    expect(await text.validate('x')).toEqual({ value: 'x' })
    expect(text.jsonSchema.input({ target: 'draft-2020-12' })).toEqual({ type: 'string' })
  })

  it('its schema is the one that models are shown', () => {
    expect(pipeline(defaults).inputSchema).toBe(defaults.inputSchema)
  })

  it('what can be read is also what a reviewer may edit it to', async () => {
    expect(await pipeline(defaults).readInput({ days: 'x' })).toEqual({
      ok: false,
      problems: [
        {
          path: '/days',
          message: 'must be an integer, got "x"',
          expected: 'an integer',
          received: 'x',
        },
      ],
    })
    expect(await pipeline(defaults).readInput({ days: 5 })).toEqual({
      ok: true,
      value: { days: 5 },
    })
  })
})

describe('[D2] tools that get the same input read it together', () => {
  const city = defineTool({
    name: 'city',
    description: 'Takes a city',
    input: Type.Object({ city: Type.String(), unit: Type.String({ default: 'kelvin' }) }),
    execute: ({ city }) => city,
  })

  it('every tool has to take it, and what each reads is seen', async () => {
    const door = doorTo([defaults, city])
    expect(await door.enter({ days: '1', city: 'Bonn', more: 1 })).toEqual({
      ok: true,
      entry: {
        value: { days: '1', city: 'Bonn', more: 1 },
        seen: { days: 1, city: 'Bonn', unit: 'kelvin', more: 1 },
      },
    })
    expect(await door.enter({})).toMatchObject({
      ok: false,
      problems: [{ path: '/days' }, { path: '/city' }],
    })
    expect(await door.enter({ days: 1 })).toMatchObject({
      ok: false,
      problems: [{ path: '/city' }],
    })
  })

  it('a problem that several have is said once', async () => {
    const entered = await doorTo([defaults, defaults]).enter({})
    expect(entered).toMatchObject({ ok: false, problems: [{ path: '/days' }] })
    expect(!entered.ok && entered.problems).toHaveLength(1)
  })

  it('where one of them is enough, only what that one reads is seen', async () => {
    const door = doorTo([defaults, city], 'one')
    expect(await door.enter({ city: 'Bonn' })).toMatchObject({
      entry: { seen: { city: 'Bonn', unit: 'kelvin' } },
    })
    expect(await door.enter({})).toMatchObject({ ok: false })
  })

  it('a value that is no plain object is seen as it was read', async () => {
    const dated = defineTool({
      name: 'dated',
      description: 'Reads a date',
      input: {
        '~standard': {
          version: 1,
          vendor: 'test',
          validate: () => ({ value: new Date(0) }),
          jsonSchema: {
            input: () => ({ type: 'object' }),
            output: () => ({ type: 'object' }),
          },
        },
      } satisfies StandardToolSchema<object, Date>,
      execute: () => '',
    })
    expect(await doorTo([dated]).enter({ day: 1 })).toEqual({
      ok: true,
      entry: { value: { day: 1 }, seen: new Date(0) },
    })
  })
})

describe('[D3] text tools take whatever comes', () => {
  it('where all are text tools, the text is what comes in', async () => {
    const door = doorTo([textTool('a'), textTool('b')])
    expect(door.kind).toBe('text')
    for (const input of ['x', { input: 'x' }]) {
      expect(await door.enter(input)).toEqual({ ok: true, entry: { value: 'x', seen: 'x' } })
    }
    expect(await door.enter('{"input":"x"}')).toMatchObject({
      entry: { value: '{"input":"x"}' },
    })
  })

  it('beside others they ask for nothing', () => {
    const door = doorTo([textTool('a'), defaults])
    expect(door.kind).toBe('typed')
    expect(door.inputSchema).toBe(defaults.inputSchema)
  })
})

function oddKeys(): AgentTool {
  return defineTool({
    name: 'odd',
    description: 'Has an odd key',
    input: Type.Object({ 'a/b~c': Type.String() }),
    execute: () => '',
  })
}
