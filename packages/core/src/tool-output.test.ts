import { describe, expect, it, vi } from 'vitest'
import Type from 'typebox'

import { toolContext } from './call/tool-context-for.ts'
import { defineTool } from './define-tool.ts'
import { silentLogger } from './logger.ts'
import { ToolResult } from './tool-result.ts'

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

  it('is passed on with a warning, because an invalid value is better than none', async () => {
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

  it('is passed on even when the logger throws', async () => {
    const warn = vi.fn<typeof silentLogger.warn>(() => {
      throw new Error('Disk is full')
    })
    const result = await weather(bad).call({}, toolContext({ logger: { ...silentLogger, warn } }))
    expect(result.success).toBe(true)
  })

  it('is a failure that names every problem with the strict check', async () => {
    expect(await weather(bad, 'strict').call({}, toolContext())).toEqual(
      ToolResult.failure(message),
    )
  })

  it('is detected in the structured part of a result', async () => {
    const result = ToolResult.success('warm', bad)
    expect(await weather(result, 'strict').call({}, toolContext())).toEqual(
      ToolResult.failure(message),
    )
  })
})

describe('the strict check', () => {
  it.each([
    ['a value that matches', { degrees: 21, place: 'Bonn' }],
    ['text, which is not a value', 'no idea'],
    ['a failure', ToolResult.failure('Broken')],
    ['a result without a value', ToolResult.success('fine')],
  ])('accepts %s', async (_, value) => {
    const result = await weather(value, 'strict').call({}, toolContext())
    expect(result).toEqual(await weather(value).call({}, toolContext()))
    expect(result.errorMessage ?? '').not.toContain('Invalid output')
  })

  it.each([
    [null, ToolResult.success('null', null)],
    ['mild', ToolResult.success('mild', 'mild')],
    ['a long story', ToolResult.success('a long story')],
  ])('treats %j as a value when the schema allows it', async (value, result) => {
    const tool = defineTool({
      name: 'mood',
      description: 'Gives a word or nothing',
      input: Type.Object({}),
      output: Type.Union([Type.Null(), Type.Enum(['mild', 'wild'])]),
      outputCheck: 'strict',
      execute: () => value as never,
    })
    expect(await tool.call({}, toolContext())).toEqual(result)
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

  it('is output when the tool declares these fields', async () => {
    const value = { success: false, output: 'log of the deployment' }
    expect(await deploy(value).call({}, toolContext())).toEqual(
      ToolResult.success(JSON.stringify(value), value),
    )
  })

  it('is a result when ToolResult created it', async () => {
    expect(await deploy(ToolResult.failure('No disk')).call({}, toolContext())).toEqual(
      ToolResult.failure('No disk'),
    )
  })

  it('is a result when the tool does not declare these fields', async () => {
    const result = { success: false, output: '', errorMessage: 'No disk' }
    expect(await weather(result).call({}, toolContext())).toEqual(result)
  })
})
