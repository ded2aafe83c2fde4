import { describe, expect, it } from 'vitest'

import { defineTool, Type } from '@tutti/core'
import { createCompoundReader } from './input-reader.ts'
import { branch, mapEach, parallel, pipeline } from './index.ts'
import { call } from '../test/call.ts'
import { textTool } from '../test/text-tools.ts'

import type { AgentTool } from '@tutti/core'
import type { StandardToolSchema } from '@tutti/core/internal'

/** A schema that transforms its input, like transforms of Zod: text to its length. */
function createLengthSchema(
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

describe('[PIPE-D1] the input of a compound tool', () => {
  it('The input of a compound tool is transformed only once by a schema with a transform', async () => {
    const readings: unknown[] = []
    const measure = defineTool({
      name: 'measure',
      description: 'Measures',
      input: createLengthSchema((value) => readings.push(value)),
      execute: ({ length }) => String(length),
    })
    const tools: readonly AgentTool[] = [
      pipeline([measure, textTool('b')]),
      pipeline([pipeline([pipeline([measure])])]),
      parallel({ a: measure }),
      branch({ when: () => true, yes: measure }),
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

  it('The input of a compound tool is coerced by the step that decodes it', async () => {
    const { result, inputs } = await call(pipeline([defaults]), { days: '5' })
    expect(inputs).toEqual(['{"days":"5"}'])
    expect(result.output).toBe('{"days":5,"unit":"celsius"}')
  })

  it('The input of a compound tool is rejected if a strict step rejects it', async () => {
    const strict = defineTool({
      name: 'strict',
      description: 'Coerces nothing',
      input: Type.Object({ days: Type.Integer() }),
      coerce: false,
      execute: ({ days }) => String(days),
    })
    const { steps, result } = await call(pipeline([strict]), { days: '5' })
    expect([result.success, steps]).toEqual([false, []])
  })

  it('The input of a compound tool is parsed if it is JSON text of an object', async () => {
    const reading = await createCompoundReader([defaults]).read(' {"days": 5}')
    expect(reading).toEqual({
      ok: true,
      input: { value: { days: 5 }, seen: { days: 5, unit: 'celsius' } },
    })
  })

  it.each<[string, AgentTool, unknown, string]>([
    [
      'a pipeline',
      pipeline([defaults], { name: 'p' }),
      { days: 'x' },
      '/days must be an integer, got "x"',
    ],
    ['branches', parallel({ a: defaults }, { name: 'p' }), {}, '/days is required'],
    ['a text pipeline', pipeline([textTool('a')], { name: 'p' }), {}, '/input is required'],
    ['a key with a slash', pipeline([oddKeys()], { name: 'p' }), {}, '/a~1b~0c is required'],
  ])(
    '[PIPE-C1] The input of a compound tool is rejected with the messages of tools: %s',
    async (_, tool, input, problem) => {
      const { result, end, steps } = await call(tool, input)
      expect(result.errorMessage).toBe(`Invalid input for "p": ${problem}`)
      expect(end).toBe('finished')
      expect(steps).toEqual([])
    },
  )

  it('The input of a compound tool has a Standard Schema, like the input of any tool', async () => {
    const { validate, jsonSchema } = pipeline([defaults])['~standard']
    expect(await validate({ days: 5 })).toMatchObject({ value: { days: 5 } })
    expect(await validate({ days: 'x' })).toMatchObject({ issues: [{ path: ['days'] }] })
    expect(jsonSchema.input({ target: 'draft-2020-12' })).toBe(defaults.inputSchema)
    expect(jsonSchema.output({ target: 'draft-07' })).toBe(defaults.inputSchema)
    const since2019 = {
      ...defaults,
      inputSchema: { type: 'object', dependentRequired: { a: ['b'] } },
    }
    const other = pipeline([since2019])['~standard'].jsonSchema
    expect(() => other.input({ target: 'draft-07' })).toThrow(/dependentRequired/)
    const text = pipeline([textTool('a'), textTool('b')])['~standard']
    expect(await text.validate('x')).toEqual({ value: 'x' })
    expect(text.jsonSchema.input({ target: 'draft-2020-12' })).toEqual({ type: 'string' })
  })

  it('The input of a compound tool has the schema that models receive', () => {
    expect(pipeline([defaults]).inputSchema).toBe(defaults.inputSchema)
  })

  it('The input of a compound tool is also checked by readInput, for edits of a reviewer', async () => {
    expect(await pipeline([defaults]).readInput({ days: 'x' })).toEqual({
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
    expect(await pipeline([defaults]).readInput({ days: 5 })).toEqual({
      ok: true,
      value: { days: 5 },
    })
  })
})

describe('[PIPE-D2] tools with the same input', () => {
  const city = defineTool({
    name: 'city',
    description: 'Accepts a city',
    input: Type.Object({ city: Type.String(), unit: Type.String({ default: 'kelvin' }) }),
    execute: ({ city }) => city,
  })

  it('Tools with the same input must all accept it, and their decoded fields are merged', async () => {
    const reader = createCompoundReader([defaults, city])
    expect(await reader.read({ days: '1', city: 'Bonn', more: 1 })).toEqual({
      ok: true,
      input: {
        value: { days: '1', city: 'Bonn', more: 1 },
        seen: { days: 1, city: 'Bonn', unit: 'kelvin', more: 1 },
      },
    })
    expect(await reader.read({})).toMatchObject({
      ok: false,
      problems: [{ path: '/days' }, { path: '/city' }],
    })
    expect(await reader.read({ days: 1 })).toMatchObject({
      ok: false,
      problems: [{ path: '/city' }],
    })
  })

  it('Tools with the same input report a common problem once', async () => {
    const reading = await createCompoundReader([defaults, defaults]).read({})
    expect(reading).toMatchObject({ ok: false, problems: [{ path: '/days' }] })
    expect(!reading.ok && reading.problems).toHaveLength(1)
  })

  it('Tools with the same input add only the fields of the tool that accepts it in the mode "one"', async () => {
    const reader = createCompoundReader([defaults, city], 'one')
    expect(await reader.read({ city: 'Bonn' })).toMatchObject({
      input: { seen: { city: 'Bonn', unit: 'kelvin' } },
    })
    expect(await reader.read({})).toMatchObject({ ok: false })
  })

  it('Tools with the same input do not merge a decoded value that is not a plain object', async () => {
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
    expect(await createCompoundReader([dated]).read({ day: 1 })).toEqual({
      ok: true,
      input: { value: { day: 1 }, seen: new Date(0) },
    })
  })
})

describe('[PIPE-D3] text tools', () => {
  it('Text tools receive the text if all tools are text tools', async () => {
    const reader = createCompoundReader([textTool('a'), textTool('b')])
    expect(reader.kind).toBe('text')
    for (const input of ['x', { input: 'x' }]) {
      expect(await reader.read(input)).toEqual({ ok: true, input: { value: 'x', seen: 'x' } })
    }
    expect(await reader.read('{"input":"x"}')).toMatchObject({
      input: { value: '{"input":"x"}' },
    })
  })

  it('Text tools add no requirements next to other tools', () => {
    const reader = createCompoundReader([textTool('a'), defaults])
    expect(reader.kind).toBe('typed')
    expect(reader.inputSchema).toBe(defaults.inputSchema)
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
