import { describe, expect, it } from 'vitest'

import { defineTool, runTool, toolContext, ToolResult, Type } from '@tutti/core'
import { pipeline, pipelineBuilder } from './index.ts'
import { call } from '../test/call.ts'
import { textTool } from '../test/text-tools.ts'

import type { AgentTool } from '@tutti/core'

const read = defineTool({
  name: 'read',
  description: 'Reads a page',
  input: Type.Object({ url: Type.String() }),
  output: Type.Object({ text: Type.String() }),
  execute: ({ url }) => ({ text: url }),
})
const count = defineTool({
  name: 'count',
  description: 'Counts words',
  input: Type.Object({ text: Type.String() }),
  output: Type.Object({ words: Type.Integer() }),
  execute: ({ text }) => ({ words: text.length }),
})

describe('a pipeline as a tool', () => {
  it('[PIPE-C2] A pipeline as a tool is named and described by its steps', () => {
    expect(pipeline([textTool('json_parser'), textTool('calculator')])).toMatchObject({
      name: 'json_parser_then_calculator',
      description: 'Pipeline: json_parser -> calculator',
    })
    expect(pipeline([textTool('a')])).toMatchObject({ name: 'a', description: 'Pipeline: a' })
  })

  it('A pipeline as a tool is named and described by its options', () => {
    const options = { name: 'digest', description: 'Makes a digest' }
    expect(pipeline([textTool('a'), textTool('b')], options)).toMatchObject(options)
    expect(pipeline([textTool('a')], { name: 'digest' }).description).toBe('Pipeline: a')
  })

  it('A pipeline as a tool has the input of its first step and the output of its last', () => {
    const tool = pipeline([read, count])
    expect(tool).toMatchObject({ kind: 'typed' })
    expect(tool.inputSchema).toBe(read.inputSchema)
    expect(tool.outputSchema).toBe(count.outputSchema)
    const text = pipeline([textTool('a'), textTool('b')])
    expect(text.kind).toBe('text')
    expect(text.inputSchema).toBe(textTool('a').inputSchema)
    expect(text).not.toHaveProperty('outputSchema')
  })

  it('A pipeline as a tool accepts text that is not JSON if its first step is a text tool', async () => {
    const tool = pipeline([textTool('a'), textTool('b')])
    const { result } = await runTool(tool, { id: 'c', name: tool.name, arguments: 'plain words' })
    expect(result.output).toBe('plain words>a>b')
  })

  it('[PIPE-C2] A pipeline as a tool has the sum of the time limits of its steps, unless a limit is set', () => {
    const short = textTool('short', (text) => text, { timeoutMs: 1_000 })
    const endless = textTool('endless', (text) => text, { timeoutMs: Infinity })
    expect(pipeline([short, textTool('b')]).timeoutMs).toBe(31_000)
    expect(pipeline([short, endless]).timeoutMs).toBe(Infinity)
    expect(pipeline([short, endless], { timeoutMs: 5 }).timeoutMs).toBe(5)
  })

  it('[PIPE-C2] A pipeline as a tool is idempotent if every step is, unless that is set', () => {
    const once = textTool('once', (text) => text, { idempotent: false })
    expect(pipeline([textTool('a'), textTool('b')]).idempotent).toBe(true)
    expect(pipeline([textTool('a'), once]).idempotent).toBe(false)
    expect(pipeline([once], { idempotent: true }).idempotent).toBe(true)
  })

  it('A pipeline as a tool requires approval only if its options require it', () => {
    const careful = textTool('careful', (text) => text, { requireApproval: true })
    expect(pipeline([careful]).requireApproval).toBe(false)
    expect(pipeline([careful], { requireApproval: true }).requireApproval).toBe(true)
    expect(pipeline([careful], { requireApproval: {} }).requireApproval).toBe(true)
  })

  it('A pipeline as a tool accepts the other settings of tools', () => {
    expect(pipeline([read], { maxConcurrentCalls: 3 }).limiter?.maxConcurrent).toBe(3)
    expect(pipeline([read])).not.toHaveProperty('limiter')
  })

  it('A pipeline as a tool can be executed directly', async () => {
    const tool = pipeline([read, count])
    const expected = ToolResult.success('{"words":3}', { words: 3 })
    expect(await tool.execute({ url: 'abc' }, toolContext())).toEqual(expected)
    expect(await tool.call({ url: 'abc' }, toolContext())).toEqual(expected)
  })

  it('A pipeline as a tool works with eight and more steps', async () => {
    const s = textTool('s')
    const long = pipeline([s, s, s, s, s, s, s, s, s], { name: 'long' })
    const { result, steps } = await call(long, { input: '' })
    expect(result.output).toBe('>s'.repeat(9))
    expect(steps.at(-1)).toBe('c/9:s s finished')
  })

  it('A pipeline as a tool retains no state between calls', async () => {
    const tool = pipeline([textTool('a'), textTool('b')])
    const results = await Promise.all(
      Array.from({ length: 50 }, (_, index) => call(tool, { input: String(index) })),
    )
    expect(results.map(({ result }) => result.output)).toEqual(
      results.map((_, index) => `${index}>a>b`),
    )
  })
})

describe('[PIPE-C3] an invalid definition of a pipeline throws a TypeError', () => {
  /** `pipeline` without its types, for calls from untyped programs. */
  const careless = pipeline as (steps?: unknown, options?: object) => AgentTool

  it('An invalid definition of a pipeline throws a TypeError that names every problem', () => {
    const make = (): AgentTool =>
      careless([null, 7], { name: ' ', description: '', errorStrategy: 'RETRY' })
    expect(make).toThrow(TypeError)
    expect(make).toThrow(
      'Cannot create a pipeline: step 1 must be a tool, got null; step 2 must be a tool, got number; ' +
        'errorStrategy must be "FAIL_FAST" or "CONTINUE_ON_FAILURE", got "RETRY"; ' +
        'Cannot define tool " ": ',
    )
    expect(make).toThrow(/name must be .*; .*description/)
  })

  it('A pipeline without steps throws a TypeError', () => {
    expect(() => careless([], { name: 'empty' })).toThrow(
      new TypeError('Cannot create a pipeline: at least one step is required'),
    )
  })

  it.each([
    ['undefined', undefined],
    ['null', null],
    ['object', read],
  ])('A pipeline throws a TypeError if its steps are not a list but %s', (shown, steps) => {
    expect(() => careless(steps, count)).toThrow(
      new TypeError(`Cannot create a pipeline: the steps must be a list of tools, got ${shown}`),
    )
  })

  it('A pipeline throws a TypeError if a step only resembles a tool', () => {
    const { readInput: _, ...half } = read
    expect(() => careless([half, read])).toThrow(/^Cannot create a pipeline: step 1 must be a tool/)
    expect(() => careless([undefined])).toThrow(/step 1 must be a tool, got undefined/)
    expect(() => careless([read, () => ''])).toThrow(/step 2 must be a tool, got function/)
  })

  it('A pipeline throws a TypeError if the default name is too long', () => {
    const long = textTool('a'.repeat(30))
    expect(() => pipeline([long, long, long])).toThrow(
      new TypeError(
        `Cannot create a pipeline: set a name, because "${[long, long, long].map(({ name }) => name).join('_then_')}" has 102 of at most 64 characters`,
      ),
    )
    expect(pipeline([long, long, long], { name: 'short' }).name).toBe('short')
    expect(pipeline([textTool('a'.repeat(28)), long]).name).toHaveLength(64)
    expect(() => pipeline([textTool('a'.repeat(29)), long])).toThrow(/has 65 of at most 64/)
  })

  it('A pipeline throws a TypeError if only a setting is invalid', () => {
    expect(() => pipeline([read], { timeoutMs: 0 })).toThrow(
      new TypeError('Cannot define tool "read": timeoutMs must be > 0, got 0'),
    )
  })
})

describe('pipelineBuilder', () => {
  it('pipelineBuilder creates the same tool as pipeline', async () => {
    const built = pipelineBuilder({ name: 'p', description: 'P' }).step(read).step(count).build()
    expect(built).toMatchObject({ name: 'p', description: 'P', kind: 'typed' })
    expect(built.outputSchema).toBe(count.outputSchema)
    expect((await call(built, { url: 'ab' })).result.structured).toEqual({ words: 2 })
    expect(pipelineBuilder().step(read).step(count).build().name).toBe('read_then_count')
  })

  it('pipelineBuilder does not change a stage, so that it can start several pipelines', async () => {
    const start = pipelineBuilder().step(textTool('a'))
    const one = start.step(textTool('b')).build()
    const other = start
      .adapter(({ output }) => `[${output}]`)
      .step(textTool('c'))
      .build()
    const third = start.step(textTool('d')).build()
    const outputs = [one, other, third].map(
      async (tool) => (await call(tool, { input: 'x' })).result.output,
    )
    expect(await Promise.all(outputs)).toEqual(['x>a>b', '[x>a]>c', 'x>a>d'])
  })

  it('pipelineBuilder replaces the first adapter of a step by the second', async () => {
    const called: string[] = []
    const tool = pipelineBuilder()
      .step(textTool('a'))
      .adapter(() => {
        called.push('first')
        return '1'
      })
      .adapter(() => {
        called.push('second')
        return '2'
      })
      .step(textTool('b'))
      .build()
    expect((await call(tool, { input: 'x' })).result.output).toBe('2>b')
    expect(called).toEqual(['second'])
  })

  it('pipelineBuilder reports every problem in build', () => {
    interface Careless {
      step(tool: unknown): Careless
      adapter(adapter: unknown): Careless
      build(): AgentTool
    }
    const careless = pipelineBuilder({ name: '' }) as unknown as Careless
    expect(() =>
      careless
        .adapter(() => '')
        .step(null)
        .adapter('text')
        .build(),
    ).toThrow(
      new TypeError(
        'Cannot create a pipeline: step 1 must be a tool, got null; ' +
          'an adapter must follow a step; ' +
          'the adapter after step 1 must be a function, got string; ' +
          'Cannot define tool "": name must be 1 to 64 letters, digits, "_" or "-"',
      ),
    )
    expect(() => careless.build()).toThrow(/at least one step is required; Cannot define tool ""/)
  })
})
