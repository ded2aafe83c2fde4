import { describe, expect, it, vi } from 'vitest'

import { toolContext } from '../call/tool-context-for.ts'
import { defineTextTool, defineTool } from './define-tool.ts'
import { TextToolInput } from '../input/text-reader.ts'
import { DEFAULT_TOOL_TIMEOUT_MS } from './tool-settings.ts'
import { ToolResult } from '../tool/tool-result.ts'

import Type from 'typebox'
import type { Static } from '@tutti/protocol/internal'
import { z } from 'zod'

import type { AgentTool, ToolContext, TypedTool } from '../tool/tool.ts'

const context = toolContext<never>({ agentRole: 'Tester' })

const Forecast = Type.Object({
  city: Type.String({ minLength: 1 }),
  days: Type.Optional(Type.Integer({ minimum: 1, maximum: 7 })),
  unit: Type.Optional(Type.Enum(['celsius', 'fahrenheit'])),
  stops: Type.Optional(Type.Array(Type.Object({ name: Type.String() }))),
})

describe('defineTool', () => {
  it('defineTool keeps the name, the description and the original schemas', () => {
    const Output = Type.Object({ degrees: Type.Number() })
    const tool = defineTool({
      name: 'forecast',
      description: 'Forecasts the weather',
      input: Forecast,
      output: Output,
      execute: () => ({ degrees: 21 }),
    })
    expect(tool).toMatchObject({ name: 'forecast', description: 'Forecasts the weather' })
    expect(tool.inputSchema).toBe(Forecast)
    expect(tool.outputSchema).toBe(Output)
  })

  it('defineTool applies the defaults: 30 s, idempotent and no output schema', () => {
    const tool = defineTool({
      name: 'pay',
      description: 'Pays',
      input: Type.Object({}),
      execute: () => 'paid',
    })
    expect(tool).toMatchObject({ timeoutMs: 30_000, idempotent: true })
    expect(DEFAULT_TOOL_TIMEOUT_MS).toBe(30_000)
    expect(tool).not.toHaveProperty('outputSchema')
    const own = defineTool({
      name: 'pay',
      description: 'Pays',
      input: Type.Object({}),
      timeoutMs: 5,
      idempotent: false,
      execute: () => 'paid',
    })
    expect(own).toMatchObject({ timeoutMs: 5, idempotent: false })
  })

  it('defineTool lets execute be called directly, and passes on its return values and errors', async () => {
    const tool = defineTool({
      name: 'half',
      description: 'Halves an even number',
      input: Type.Object({ n: Type.Number() }),
      output: Type.Object({ half: Type.Number() }),
      execute({ n }) {
        if (n % 2 !== 0) throw new RangeError('Odd')
        return { half: n / 2 }
      },
    })
    await expect(tool.execute({ n: 4 }, context)).resolves.toEqual({ half: 2 })
    await expect(tool.execute({ n: 3 }, context)).rejects.toThrow(new RangeError('Odd'))
  })

  it.each(['', 'two words', 'é', 'a.b', 'a/b', 'x'.repeat(65), 'trailing\n'])(
    'defineTool rejects the name %j',
    (name) => {
      expect(() => returning('x', { name })).toThrow(TypeError)
      expect(() => returning('x', { name })).toThrow(
        `Cannot define tool ${JSON.stringify(name)}: name must be 1 to 64 letters, digits, "_" or "-"`,
      )
    },
  )

  it.each([0, -1, Number.NaN])('defineTool rejects a time limit of %d', (timeoutMs) => {
    expect(() => returning('x', { timeoutMs })).toThrow(
      `Cannot define tool "plain": timeoutMs must be > 0, got ${timeoutMs}`,
    )
  })

  it.each(['a', 'read_file', 'web-search', 'X9', 'x'.repeat(64)])(
    'defineTool accepts the name %j',
    (name) => {
      expect(returning('x', { name }).name).toBe(name)
    },
  )

  it.each(['', ' ', '\n\t'])('defineTool rejects the blank description %j', (description) => {
    expect(() => returning('x', { description })).toThrow(
      new TypeError('Cannot define tool "plain": description must not be blank'),
    )
  })

  it('defineTool rejects a definition without name or description, as from JavaScript', () => {
    const rest = { input: Type.Object({}), execute: () => 'x' }
    const definitions = [
      { ...rest, description: 'd' },
      { ...rest, name: 'a' },
      { ...rest, name: 7, description: 'd' },
    ] as never[]
    for (const definition of definitions) {
      expect(() => defineTool(definition)).toThrow(TypeError)
      expect(() => defineTool(definition)).toThrow('Cannot define tool')
    }
  })
})

describe('call', () => {
  const forecast = (execute: () => string): AgentTool =>
    defineTool({ name: 'forecast', description: 'Forecasts', input: Forecast, execute })

  it('The method `call` of a tool passes valid input and the context to the body unchanged', async () => {
    const execute = vi.fn<(input: object, given: ToolContext) => string>(() => 'sunny')
    const tool = defineTool({ name: 'f', description: 'F', input: Forecast, execute })
    const input = { city: 'Bonn', days: 3, stops: [{ name: 'Köln' }] }
    await expect(tool.call(input, context)).resolves.toEqual(ToolResult.success('sunny'))
    expect(execute).toHaveBeenCalledExactlyOnceWith(input, context)
  })

  it('The method `call` of a tool ignores fields that the schema does not declare', async () => {
    const result = await forecast(() => 'sunny').call({ city: 'Bonn', mood: 'good' }, context)
    expect(result).toEqual(ToolResult.success('sunny'))
  })

  it('The method `call` of a tool returns every problem of invalid input with its path, and does not run the body', async () => {
    const execute = vi.fn<() => string>()
    const input = {
      city: null,
      days: 9,
      unit: 'kelvin',
      stops: [{ name: 'Köln' }, { name: 5 }, {}],
    }
    const result = await forecast(execute).call(input, context)
    expect(result).toMatchObject({ success: false, output: '' })
    expect(result.errorMessage).toMatch(/^Invalid input for "forecast": /)
    const problems = result.errorMessage?.replace('Invalid input for "forecast": ', '').split('; ')
    expect(problems).toEqual([
      '/city must be a string, got null',
      '/days must be <= 7, got 9',
      '/unit must be one of "celsius", "fahrenheit", got "kelvin"',
      '/stops/1/name must be a string, got 5',
      '/stops/2/name is required',
    ])
    expect(execute).not.toHaveBeenCalled()
  })

  it('The method `call` of a tool names a missing required field', async () => {
    const result = await forecast(() => 'x').call({}, context)
    expect(result).toEqual(ToolResult.failure('Invalid input for "forecast": /city is required'))
  })

  it.each([[undefined], [null], ['Bonn'], [[]], [42]])(
    'The method `call` of a tool returns a failure for input that is not an object: %j',
    async (input) => {
      const result = await forecast(() => 'x').call(input, context)
      expect(result.errorMessage).toMatch(
        /^Invalid input for "forecast": input (must be an object|is required)/,
      )
    },
  )

  it('defineTool throws for an unusable schema', () => {
    expect(() =>
      defineTool({
        name: 'broken',
        description: 'Has a broken pattern',
        input: Type.Object({ code: Type.String({ pattern: '(' }) }),
        execute: () => 'x',
      }),
    ).toThrow(/^Cannot define tool "broken": input \/properties\/code\/pattern must be a regular/)
  })

  it.each([
    ['text', ToolResult.success('text', 'text')],
    ['', ToolResult.success('', '')],
    [{ degrees: 21 }, ToolResult.success('{"degrees":21}', { degrees: 21 })],
    [[1, 2], ToolResult.success('[1,2]', [1, 2])],
    [0, ToolResult.success('0', 0)],
    [false, ToolResult.success('false', false)],
    [undefined, ToolResult.success('')],
    [null, ToolResult.success('null', null)],
    [
      (): string => 'a function',
      ToolResult.failure('Tool "plain" returned no JSON: the value is a function'),
    ],
  ])(
    'The method `call` of a tool converts the returned value %j to text and keeps the value',
    async (value, expected) => {
      await expect(returning(value).call({}, context)).resolves.toStrictEqual(expected)
    },
  )

  it('The method `call` of a tool passes on a ToolResult unchanged', async () => {
    const failure = ToolResult.failure('No such city')
    await expect(returning(failure).call({}, context)).resolves.toBe(failure)
    const success = ToolResult.success('21 degrees', { degrees: 21 })
    await expect(returning(success).call({}, context)).resolves.toBe(success)
  })

  it('The method `call` of a tool awaits an async body', async () => {
    const tool = returning(Promise.resolve({ degrees: 21 }))
    await expect(tool.call({}, context)).resolves.toEqual(
      ToolResult.success('{"degrees":21}', { degrees: 21 }),
    )
  })
})

describe('a tool as a Standard Schema', () => {
  it('A tool as a Standard Schema validates its input with the rules of a call', async () => {
    const tool = forecastOf(() => 'sunny')
    const standard = tool['~standard']
    expect(standard).toMatchObject({ version: 1, vendor: 'tutti' })
    expect(await standard.validate({ city: 'Bonn', days: '3', mood: 'good' })).toEqual({
      value: { city: 'Bonn', days: 3 },
    })
    expect(await standard.validate({ stops: [{}] })).toMatchObject({
      issues: [{ path: ['city'] }, { path: ['stops', 0, 'name'] }],
    })
    expect(standard.jsonSchema.input({ target: 'draft-2020-12' })).toEqual(Forecast)
    expect(tool['~standard']).toBe(standard)
  })

  it('A tool as a Standard Schema does not coerce when the tool does not', async () => {
    const tool = defineTool({
      name: 'f',
      description: 'F',
      input: Forecast,
      coerce: false,
      execute: () => 'x',
    })
    expect(await tool['~standard'].validate({ city: 'Bonn', days: '3' })).toHaveProperty('issues')
  })

  it('A tool as a Standard Schema uses the Standard Schema of the library', () => {
    const input = z.object({ a: z.string() })
    const tool = defineTool({ name: 'z', description: 'Z', input, execute: ({ a }) => a })
    expect(tool['~standard']).toBe(input['~standard'])
  })

  it('A tool as a Standard Schema can be the input of another tool', async () => {
    const outer = defineTool({
      name: 'outer',
      description: 'Takes what the other takes',
      input: forecastOf(() => 'sunny'),
      execute: ({ city, days = 1 }) => `${city} ${days}`,
    })
    expect(await outer.call({ city: 'Bonn' }, context)).toEqual(ToolResult.success('Bonn 1'))
    expect(outer.inputSchema).toEqual(Forecast)
  })

  it('A text tool as a Standard Schema takes text', async () => {
    const tool = defineTextTool({ name: 't', description: 'T', execute: (text) => text })
    expect(await tool['~standard'].validate('hey')).toEqual({ value: 'hey' })
    expect(await tool['~standard'].validate(['hey', 'ho'])).toHaveProperty('issues')
  })
})

describe('defineTextTool', () => {
  const shout = defineTextTool({
    name: 'shout',
    description: 'Shouts',
    execute: (input, { agentRole }) => `${agentRole}: ${input.toUpperCase()}`,
  })

  it('defineTextTool has one required string named input as its schema', () => {
    expect(shout.inputSchema).toBe(TextToolInput)
    expect(JSON.parse(JSON.stringify(shout.inputSchema))).toEqual({
      type: 'object',
      required: ['input'],
      properties: { input: { type: 'string' } },
    })
  })

  it('defineTextTool gives the body the string and the context', async () => {
    await expect(shout.call({ input: 'hey' }, context)).resolves.toEqual(
      ToolResult.success('Tester: HEY'),
    )
    await expect(shout.execute('ho', context)).resolves.toBe('Tester: HO')
  })

  it.each([
    ['the string itself', 'hey', 'HEY'],
    ['a number', { input: 5 }, '5'],
    ['a bare number', 5, '5'],
    ['an object', { input: { a: 1 } }, '{"A":1}'],
    ['an empty string', { input: '' }, ''],
  ])('defineTextTool takes %s as text', async (_, input, text) => {
    await expect(shout.call(input, context)).resolves.toEqual(ToolResult.success(`Tester: ${text}`))
  })

  it.each([
    [{}, '/input is required'],
    [{ text: 'hey' }, '/input is required'],
    [{ input: null }, '/input must be a string, got null'],
    [null, 'input must be a string, got null'],
    [[], 'input must be a string, got []'],
  ])('defineTextTool returns a failure for %j', async (input, problem) => {
    const result = await shout.call(input, context)
    expect(result.errorMessage).toBe(`Invalid input for "shout": ${problem}`)
  })

  it('defineTextTool applies the limits of its definition, or the defaults', () => {
    expect(shout).toMatchObject({ timeoutMs: 30_000, idempotent: true })
    const own = defineTextTool({
      name: 'a',
      description: 'A',
      timeoutMs: 7,
      idempotent: false,
      execute: (text) => text,
    })
    expect(own).toMatchObject({ timeoutMs: 7, idempotent: false })
  })

  it('defineTextTool rejects an invalid name and a blank description', () => {
    const execute = (text: string): string => text
    expect(() => defineTextTool({ name: 'a b', description: 'A', execute })).toThrow(TypeError)
    expect(() => defineTextTool({ name: 'a', description: '', execute })).toThrow(TypeError)
  })
})

function forecastOf(execute: () => string): TypedTool<Static<typeof Forecast>> {
  return defineTool({ name: 'forecast', description: 'Forecasts', input: Forecast, execute })
}

/** Returns a tool whose body returns `value`. */
function returning(
  value: unknown,
  { name = 'plain', description = 'Returns a value', timeoutMs = 30_000 } = {},
): AgentTool {
  return defineTool({
    name,
    description,
    timeoutMs,
    input: Type.Object({}),
    output: Type.Unknown(),
    execute: () => value,
  })
}
