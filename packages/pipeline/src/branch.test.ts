import { describe, expect, it } from 'vitest'

import { defineTool, ToolResult, TuttiError, Type } from '@tutti/core'
import { branch, branchByType, parallel, pipeline } from './index.ts'
import { call } from '../test/call.ts'
import { failOnUnhandledRejections } from '../test/leaks.ts'
import { textTool, throwingTool } from '../test/text-tools.ts'

import type { AgentTool } from '@tutti/core'

failOnUnhandledRejections()

const page = defineTool({
  name: 'page',
  description: 'Reads a page',
  input: Type.Object({ url: Type.String(), limit: Type.Integer({ default: 10 }) }),
  output: Type.Object({ text: Type.String() }),
  execute: ({ url, limit }) => ({ text: `page ${url} ${limit}` }),
})
const file = defineTool({
  name: 'file',
  description: 'Reads a file',
  input: Type.Object({ path: Type.String() }),
  execute: ({ path }) => `file ${path}`,
})

describe('[PIPE-B1] the predicate', () => {
  it('The predicate of a branch receives the input as the tools decode it, and every given field', async () => {
    const seen: unknown[] = []
    const tool = branch(
      (input) => {
        seen.push(input)
        return true
      },
      { yes: page },
    )
    const { inputs } = await call(tool, { url: 'u', limit: '5', kind: 'news' })
    await call(tool, { url: 'u' })
    expect(seen).toEqual([
      { url: 'u', limit: 5, kind: 'news' },
      { url: 'u', limit: 10 },
    ])
    expect(inputs).toEqual(['{"url":"u","limit":"5","kind":"news"}'])
  })

  it('The predicate of a branch receives the text if both are text tools', async () => {
    const tool = branch((text) => text.length > 1, { yes: textTool('a'), no: textTool('b') })
    expect(tool.kind).toBe('text')
    expect((await call(tool, { input: 'xy' })).result.output).toBe('xy>a')
    expect((await call(tool, { input: 'x' })).result.output).toBe('x>b')
  })

  it('The predicate of a branch can be async, and receives the context of the branch', async () => {
    const roles: string[] = []
    const tool = branch(
      async (_, { agentRole }) => {
        roles.push(agentRole)
        return Promise.resolve(false)
      },
      { yes: textTool('a'), no: textTool('b') },
    )
    const { result, steps } = await call(tool, { input: 'x' }, { agentRole: 'Writer' })
    expect(result.output).toBe('x>b')
    expect(steps).toEqual(['c/no b finished'])
    expect(roles).toEqual(['Writer'])
  })
})

describe('[PIPE-B2] the input', () => {
  const tool = branch((input: { path?: string; url?: string }) => input.path !== undefined, {
    yes: file,
    no: page,
  })

  it('The input of a branch is accepted if it matches one of the tools', async () => {
    expect((await call(tool, { path: 'p' })).result.output).toBe('file p')
    expect((await call(tool, { url: 'u' })).result.output).toBe('{"text":"page u 10"}')
    expect(tool.inputSchema).toMatchObject({
      type: 'object',
      properties: { path: {}, url: {}, limit: {} },
    })
    expect(tool.inputSchema).not.toHaveProperty('required')
  })

  it('The input of a branch is rejected if it matches neither tool, and the predicate is not called', async () => {
    const { result, steps } = await call(tool, { limit: 1 })
    expect(result.errorMessage).toBe(
      'Invalid input for "file_or_page": /path is required; /url is required',
    )
    expect(steps).toEqual([])
  })

  it('The input of a branch is checked by the chosen tool, which reports what it lacks', async () => {
    const wrong = branch(() => true, { yes: file, no: page })
    const { result } = await call(wrong, { url: 'u' })
    expect(result.errorMessage).toBe('Invalid input for "file": /path is required')
  })
})

describe('[PIPE-B3] the result', () => {
  it('The result of a branch is that of the chosen tool, unchanged', async () => {
    const failed = ToolResult.failure('No such page')
    const tool = branch(() => true, { yes: textTool('a', () => failed) })
    const { result, steps } = await call(tool, { input: '' })
    expect(result).toBe(failed)
    expect(steps).toEqual(['c/yes a finished'])
  })

  it('The result of a branch names the tool that threw', async () => {
    const tool = branch(() => false, { yes: textTool('a'), no: throwingTool('b') })
    expect((await call(tool, { input: '' })).result).toEqual(
      ToolResult.failure("Step 'b' threw: No network"),
    )
  })

  it('The result of a branch is the decoded input without `no`', async () => {
    const tool = branch(() => false, { yes: page })
    const { result, steps } = await call(tool, { url: 'u', kind: 'news' })
    const value = { url: 'u', kind: 'news', limit: 10 }
    expect(result).toEqual(ToolResult.success(JSON.stringify(value), value))
    expect(steps).toEqual([])
    const text = branch(() => false, { yes: textTool('a') })
    expect((await call(text, { input: 'x' })).result).toEqual(ToolResult.success('x'))
  })

  it('The result of a branch has the union of both schemas', () => {
    const other = { ...page, name: 'other' }
    expect(branch(() => true, { yes: page, no: other }).outputSchema).toBe(page.outputSchema)
    expect(branch(() => true, { yes: page, no: file }).outputSchema).toEqual(
      Type.Union([Type.Object({ text: Type.String() }), Type.String()]),
    )
    expect(branch(() => true, { yes: page }).outputSchema).toEqual(
      Type.Union([Type.Object({ text: Type.String() }), page.inputSchema]),
    )
    expect(branch(() => true, { yes: textTool('a') })).not.toHaveProperty('outputSchema')
    const tree = { ...page, outputSchema: { type: 'array', items: { $ref: '#' } } }
    expect(branch(() => true, { yes: tree, no: page }).outputSchema).toMatchObject({
      anyOf: [{ items: { $ref: '#/anyOf/0' } }, {}],
    })
  })

  it('The result of a branch is passed on as text if the schema allows text', async () => {
    const tool = pipeline(
      { name: 'p' },
      branch((input: object) => 'path' in input, { yes: file, no: page }) as AgentTool,
      textTool('c'),
      parallel({ d: textTool('d') }),
    )
    expect((await call(tool, { path: 'p' })).result.structured).toEqual({ d: 'file p>c>d' })
    expect((await call(tool, { url: 'u' })).result.structured).toEqual({
      d: '{"text":"page u 10"}>c>d',
    })
  })
})

describe('[PIPE-B4] a predicate that throws', () => {
  const throwingPredicate = (error: unknown) => (): boolean => {
    throw error
  }

  it('A predicate that throws is a failure that names the branch', async () => {
    const tool = branch(throwingPredicate(new Error('No idea')), { name: 'choose', yes: page })
    const { result, end, steps } = await call(tool, { url: 'u' })
    expect(result).toEqual(ToolResult.failure("Predicate of 'choose' threw: No idea"))
    expect([end, steps]).toEqual(['finished', []])
    const unnamed = branch(() => Promise.reject(new Error('Late')), { yes: page })
    expect((await call(unnamed, { url: 'u' })).result.errorMessage).toBe(
      "Predicate of 'maybe_page' threw: Late",
    )
  })

  it.each([
    ['EXIT_EARLY', 'exit_early'],
    ['TOOL_CONFIGURATION', 'misconfigured'],
  ] as const)('A predicate that throws ends the call with %s', async (code, end) => {
    const error = new TuttiError(code, 'Stop')
    const tool = branch(throwingPredicate(error), { yes: page })
    expect(await call(tool, { url: 'u' })).toMatchObject({ end, error })
  })
})

describe('branchByType', () => {
  it('branchByType calls the tool for each member of a union', async () => {
    interface File {
      path: string
    }
    const isFile = (input: File | { url: string; limit: number }): input is File => 'path' in input
    const tool = branchByType(isFile, { yes: file, no: page })
    expect(tool.name).toBe('file_or_page')
    expect((await call(tool, { path: 'p' })).result.output).toBe('file p')
    expect((await call(tool, { url: 'u' })).result.output).toBe('{"text":"page u 10"}')
  })
})

describe('a branch as a tool', () => {
  it('A branch as a tool is named and described by its tools', () => {
    const quick = { ...file, timeoutMs: 10, idempotent: false }
    expect(branch(() => true, { yes: quick, no: page })).toMatchObject({
      name: 'file_or_page',
      description: 'Branch: file, or page',
      timeoutMs: 30_000,
      idempotent: false,
    })
    expect(branch(() => true, { yes: quick })).toMatchObject({
      name: 'maybe_file',
      description: 'Branch: file, or the input unchanged',
      timeoutMs: 10,
    })
    const named = { name: 'n', description: 'D', timeoutMs: 7 }
    expect(branch(() => true, { ...named, yes: page })).toMatchObject(named)
  })

  it('A branch as a tool throws a TypeError that names every problem of its definition', () => {
    const careless = branch as (predicate: unknown, ways: object) => AgentTool
    expect(() => careless('yes', { yes: null, no: 7, name: '' })).toThrow(TypeError)
    expect(() => careless('yes', { yes: null, no: 7, name: '' })).toThrow(
      'Cannot create a branch: the predicate must be a function, got string; yes must be a tool, ' +
        'got null; no must be a tool, got number; Cannot define tool ""',
    )
    const long = textTool('a'.repeat(60))
    expect(() => branch(() => true, { yes: long })).toThrow(/set a name, because "maybe_a+"/)
    expect(branch(() => true, { yes: long, name: 'short' }).name).toBe('short')
  })
})
