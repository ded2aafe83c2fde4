import { describe, expect, it } from 'vitest'

import { defineTool, ToolResult, TuttiError, Type } from '@tutti/core'
import { branch, parallel, pipeline } from './index.ts'
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

const isFile = (
  input: { path: string } | { url: string; limit: number },
): input is { path: string } => 'path' in input

describe('[PIPE-B1] the predicate', () => {
  it('The predicate of a branch receives the input as the tools decode it, and every given field', async () => {
    const seen: unknown[] = []
    const tool = branch({
      when: (input) => {
        seen.push(input)
        return true
      },
      yes: page,
    })
    const { inputs } = await call(tool, { url: 'u', limit: '5', kind: 'news' })
    await call(tool, { url: 'u' })
    expect(seen).toEqual([
      { url: 'u', limit: 5, kind: 'news' },
      { url: 'u', limit: 10 },
    ])
    expect(inputs).toEqual(['{"url":"u","limit":"5","kind":"news"}'])
  })

  it('The predicate of a branch receives the text if both are text tools', async () => {
    const tool = branch({ when: (text) => text.length > 1, yes: textTool('a'), no: textTool('b') })
    expect(tool.kind).toBe('text')
    expect((await call(tool, { input: 'xy' })).result.output).toBe('xy>a')
    expect((await call(tool, { input: 'x' })).result.output).toBe('x>b')
  })

  it('The predicate of a branch can be async, and receives the context of the branch', async () => {
    const roles: string[] = []
    const tool = branch({
      when: async (_, { agentRole }) => {
        roles.push(agentRole)
        return Promise.resolve(false)
      },
      yes: textTool('a'),
      no: textTool('b'),
    })
    const { result, steps } = await call(tool, { input: 'x' }, { agentRole: 'Writer' })
    expect(result.output).toBe('x>b')
    expect(steps).toEqual(['c/no b finished'])
    expect(roles).toEqual(['Writer'])
  })
})

describe('[PIPE-B2] the input', () => {
  const tool = branch({
    when: (input: { path?: string; url?: string }) => input.path !== undefined,
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
    const wrong = branch({ when: () => true, yes: file, no: page })
    const { result } = await call(wrong, { url: 'u' })
    expect(result.errorMessage).toBe('Invalid input for "file": /path is required')
  })
})

describe('[PIPE-B3] the result', () => {
  it('The result of a branch is that of the chosen tool, unchanged', async () => {
    const failed = ToolResult.failure('No such page')
    const tool = branch({ when: () => true, yes: textTool('a', () => failed) })
    const { result, steps } = await call(tool, { input: '' })
    expect(result).toBe(failed)
    expect(steps).toEqual(['c/yes a finished'])
  })

  it('The result of a branch names the tool that threw', async () => {
    const tool = branch({ when: () => false, yes: textTool('a'), no: throwingTool('b') })
    expect((await call(tool, { input: '' })).result).toEqual(
      ToolResult.failure("Step 'b' threw: No network"),
    )
  })

  it('The result of a branch is the decoded input without `no`', async () => {
    const tool = branch({ when: () => false, yes: page })
    const { result, steps } = await call(tool, { url: 'u', kind: 'news' })
    const value = { url: 'u', kind: 'news', limit: 10 }
    expect(result).toEqual(ToolResult.success(JSON.stringify(value), value))
    expect(steps).toEqual([])
    const text = branch({ when: () => false, yes: textTool('a') })
    expect((await call(text, { input: 'x' })).result).toEqual(ToolResult.success('x'))
  })

  it('The result of a branch has the union of both schemas', () => {
    const other = { ...page, name: 'other' }
    expect(branch({ when: () => true, yes: page, no: other }).outputSchema).toBe(page.outputSchema)
    expect(branch({ when: () => true, yes: page, no: file }).outputSchema).toEqual(
      Type.Union([Type.Object({ text: Type.String() }), Type.String()]),
    )
    expect(branch({ when: () => true, yes: page }).outputSchema).toEqual(
      Type.Union([Type.Object({ text: Type.String() }), page.inputSchema]),
    )
    expect(branch({ when: () => true, yes: textTool('a') })).not.toHaveProperty('outputSchema')
    const tree = { ...page, outputSchema: { type: 'array', items: { $ref: '#' } } }
    expect(branch({ when: () => true, yes: tree, no: page }).outputSchema).toMatchObject({
      anyOf: [{ items: { $ref: '#/anyOf/0' } }, {}],
    })
  })

  it('The result of a branch is passed on as text if the schema allows text', async () => {
    const tool = pipeline(
      [
        branch({ when: isFile, yes: file, no: page }),
        textTool('c'),
        parallel({ d: textTool('d') }),
      ],
      { name: 'p' },
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
    const tool = branch(
      { when: throwingPredicate(new Error('No idea')), yes: page },
      { name: 'choose' },
    )
    const { result, end, steps } = await call(tool, { url: 'u' })
    expect(result).toEqual(ToolResult.failure("Predicate of 'choose' threw: No idea"))
    expect([end, steps]).toEqual(['finished', []])
    const unnamed = branch({ when: () => Promise.reject(new Error('Late')), yes: page })
    expect((await call(unnamed, { url: 'u' })).result.errorMessage).toBe(
      "Predicate of 'maybe_page' threw: Late",
    )
  })

  it.each([
    ['EXIT_EARLY', 'exit_early'],
    ['TOOL_CONFIGURATION', 'misconfigured'],
  ] as const)('A predicate that throws ends the call with %s', async (code, end) => {
    const error = new TuttiError(code, 'Stop')
    const tool = branch({ when: throwingPredicate(error), yes: page })
    expect(await call(tool, { url: 'u' })).toMatchObject({ end, error })
  })
})

describe('a branch with a type guard', () => {
  it('A branch with a type guard calls the tool for each member of a union', async () => {
    const tool = branch({ when: isFile, yes: file, no: page })
    expect(tool.name).toBe('file_or_page')
    expect((await call(tool, { path: 'p' })).result.output).toBe('file p')
    expect((await call(tool, { url: 'u' })).result.output).toBe('{"text":"page u 10"}')
  })
})

describe('a branch as a tool', () => {
  it('A branch as a tool is named and described by its tools', () => {
    const quick = { ...file, timeoutMs: 10, idempotent: false }
    expect(branch({ when: () => true, yes: quick, no: page })).toMatchObject({
      name: 'file_or_page',
      description: 'Branch: file, or page',
      timeoutMs: 30_000,
      idempotent: false,
    })
    expect(branch({ when: () => true, yes: quick })).toMatchObject({
      name: 'maybe_file',
      description: 'Branch: file, or the input unchanged',
      timeoutMs: 10,
    })
    const named = { name: 'n', description: 'D', timeoutMs: 7 }
    expect(branch({ when: () => true, yes: page }, named)).toMatchObject(named)
  })

  it('A branch as a tool throws a TypeError that names every problem of its definition', () => {
    const careless = branch as (ways: object, options?: object) => AgentTool
    const make = (): AgentTool =>
      careless({ when: 'yes', yes: null, no: 7, on: page }, { name: '', timeoutMS: 1 })
    expect(make).toThrow(TypeError)
    expect(make).toThrow(
      'Cannot create a branch: when must be a function, got string; yes must be a tool, got null; ' +
        'no must be a tool, got number; unknown option "on" (did you mean "no"?); ' +
        'unknown option "timeoutMS" (did you mean "timeoutMs"?); Cannot define tool ""',
    )
    expect(() => careless({ when: null, yes: page, name: 'x' })).toThrow(
      new TypeError(
        'Cannot create a branch: when must be a function, got null; ' +
          'unknown option "name" (known options: when, yes, no)',
      ),
    )
    const long = textTool('a'.repeat(60))
    expect(() => branch({ when: () => true, yes: long })).toThrow(/set a name, because "maybe_a+"/)
    expect(branch({ when: () => true, yes: long }, { name: 'short' }).name).toBe('short')
  })
})
