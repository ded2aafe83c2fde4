import { describe, expect, it, vi } from 'vitest'
import Type, { type TSchema } from 'typebox'

import { toolContext } from '../call/tool-context-for.ts'
import { defineTool } from './define-tool.ts'
import { silentLogger } from '../logger.ts'
import { ToolResult } from '../tool/tool-result.ts'

import type { OutputCheck } from './tool-output.ts'

const Weather = Type.Object({ degrees: Type.Number(), place: Type.String() })

function weather(value: unknown, outputCheck?: OutputCheck): ReturnType<typeof defineTool> {
  return defineTool({
    name: 'weather',
    description: 'Tells the weather',
    input: Type.Object({}),
    output: Weather,
    ...(outputCheck === undefined ? {} : { outputCheck }),
    execute: () => value as never,
  })
}

describe('a value that does not match the output schema', () => {
  const bad = { degrees: 'warm' }
  const message =
    'Invalid output for "weather": /place is required; /degrees must be a number, got "warm"'

  it('A value that does not match the output schema is passed on with a warning, because an invalid value is better than none', async () => {
    const warn = vi.fn<typeof silentLogger.warn>()
    const result = await weather(bad).call({}, toolContext({ logger: { ...silentLogger, warn } }))
    expect(result).toEqual(ToolResult.success('{"degrees":"warm"}', bad))
    expect(warn).toHaveBeenCalledExactlyOnceWith('Tool output does not match its schema', {
      tool: 'weather',
      problems: [
        expect.objectContaining({ path: '/place' }),
        expect.objectContaining({ path: '/degrees' }),
      ],
    })
  })

  it('A value that does not match the output schema is passed on even when the logger throws', async () => {
    const warn = vi.fn<typeof silentLogger.warn>(() => {
      throw new Error('Disk is full')
    })
    const result = await weather(bad).call({}, toolContext({ logger: { ...silentLogger, warn } }))
    expect(result.success).toBe(true)
  })

  it('A value that does not match the output schema is a failure that names every problem with the strict check', async () => {
    expect(await weather(bad, 'strict').call({}, toolContext())).toEqual(
      ToolResult.failure(message),
    )
  })

  it('A value that does not match the output schema is detected in the structured part of a result', async () => {
    const result = ToolResult.success('warm', bad)
    expect(await weather(result, 'strict').call({}, toolContext())).toEqual(
      ToolResult.failure(message),
    )
  })
})

describe('the strict check', () => {
  it.each([
    ['a value that matches', { degrees: 21, place: 'Bonn' }],
    ['a failure', ToolResult.failure('Broken')],
  ])('The strict check of output accepts %s', async (_, value) => {
    const result = await weather(value, 'strict').call({}, toolContext())
    expect(result).toEqual(await weather(value).call({}, toolContext()))
    expect(result.errorMessage ?? '').not.toContain('Invalid output')
  })

  it.each([
    [null, ToolResult.success('null', null)],
    ['mild', ToolResult.success('mild', 'mild')],
  ])(
    'The strict check of output treats %j as a value when the schema allows it',
    async (value, result) => {
      const tool = defineTool({
        name: 'mood',
        description: 'Gives a word or nothing',
        input: Type.Object({}),
        output: Type.Union([Type.Null(), Type.Enum(['mild', 'wild'])]),
        outputCheck: 'strict',
        execute: () => value as never,
      })
      expect(await tool.call({}, toolContext())).toEqual(result)
    },
  )
})

describe('the strict check of text and of nothing', () => {
  const refused = (got: string): ToolResult =>
    ToolResult.failure(`Invalid output for "weather": output must be an object, got ${got}`)

  it.each<[string, unknown, ToolResult]>([
    ['undefined', undefined, refused('undefined')],
    ['null', null, refused('null')],
    ['text', 'no idea', refused('"no idea"')],
    ['empty text', '', refused('""')],
    ['JSON text of another type', '[1]', refused('[1]')],
    ['a result with text only', ToolResult.success('fine'), refused('"fine"')],
    ['a result with null', ToolResult.success('fine', null), refused('null')],
  ])(
    'The strict check of text and of nothing refuses %s for an object schema',
    async (_, value, result) => {
      expect(await weather(value, 'strict').call({}, toolContext())).toEqual(result)
      expect(await weather(value, 'warn').call({}, toolContext())).toMatchObject({ success: true })
    },
  )

  it('The strict check of text and of nothing reads JSON text as the value', async () => {
    const text = '{"degrees":21,"place":"Bonn"}'
    const value = { degrees: 21, place: 'Bonn' }
    expect(await weather(text, 'strict').call({}, toolContext())).toEqual(
      ToolResult.success(text, value),
    )
    expect(await weather(ToolResult.success(text), 'strict').call({}, toolContext())).toEqual(
      ToolResult.success(text, value),
    )
  })

  it('The strict check of text and of nothing accepts a schema that allows them', async () => {
    const tool = (value: unknown, output: TSchema): ReturnType<typeof defineTool> =>
      defineTool({
        name: 'open',
        description: 'Returns anything',
        input: Type.Object({}),
        output,
        outputCheck: 'strict',
        execute: () => value as never,
      })
    expect(await tool(undefined, Type.Unknown()).call({}, toolContext())).toEqual(
      ToolResult.success(''),
    )
    expect(await tool('text', Type.String()).call({}, toolContext())).toEqual(
      ToolResult.success('text', 'text'),
    )
  })

  it('The strict check of text and of nothing checks an integer beyond 2^53 as an integer, and returns its digits as text', async () => {
    const tool = defineTool({
      name: 'id',
      description: 'Returns an id',
      input: Type.Object({}),
      output: Type.Object({ id: Type.Integer() }),
      outputCheck: 'strict',
      execute: () => ({ id: 725653563933458432n }) as never,
    })
    expect(await tool.call({}, toolContext())).toEqual(
      ToolResult.success('{"id":725653563933458432}', { id: '725653563933458432' }),
    )
  })

  it('The strict check of text and of nothing declares the type bigint of TypeBox as an integer', async () => {
    const tool = defineTool({
      name: 'id',
      description: 'Returns an id',
      input: Type.Object({ id: Type.BigInt({ minimum: 5n }) }),
      output: Type.Object({ id: Type.BigInt() }),
      outputCheck: 'strict',
      execute: ({ id }) => ({ id: id + 1n }),
    })
    expect(JSON.parse(JSON.stringify([tool.inputSchema, tool.outputSchema]))).toEqual([
      { type: 'object', required: ['id'], properties: { id: { type: 'integer', minimum: 5 } } },
      { type: 'object', required: ['id'], properties: { id: { type: 'integer' } } },
    ])
    expect(await tool.call({ id: 7 }, toolContext())).toEqual(
      ToolResult.success('{"id":8}', { id: 8 }),
    )
  })
})

describe('output with the shape of a result', () => {
  const Deploy = Type.Object({ success: Type.Boolean(), output: Type.String() })
  const deploy = (value: unknown): ReturnType<typeof defineTool> =>
    defineTool({
      name: 'deploy',
      description: 'Deploys',
      input: Type.Object({}),
      output: Deploy,
      execute: () => value as never,
    })

  it('Output with the shape of a result is output when the tool declares these fields', async () => {
    const value = { success: false, output: 'log of the deployment' }
    expect(await deploy(value).call({}, toolContext())).toEqual(
      ToolResult.success(JSON.stringify(value), value),
    )
  })

  it('Output with the shape of a result is a result when ToolResult created it', async () => {
    expect(await deploy(ToolResult.failure('No disk')).call({}, toolContext())).toEqual(
      ToolResult.failure('No disk'),
    )
  })

  it('Output with the shape of a result is a result when the tool does not declare these fields', async () => {
    const result = { success: false, output: '', errorMessage: 'No disk' }
    expect(await weather(result).call({}, toolContext())).toEqual(result)
  })
})
