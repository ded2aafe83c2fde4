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

describe('a pipeline is a tool', () => {
  it('[C2] named and described by its steps', () => {
    expect(pipeline(textTool('json_parser'), textTool('calculator'))).toMatchObject({
      name: 'json_parser_then_calculator',
      description: 'Pipeline: json_parser -> calculator',
    })
    expect(pipeline(textTool('a'))).toMatchObject({ name: 'a', description: 'Pipeline: a' })
  })

  it('or as its options say', () => {
    const options = { name: 'digest', description: 'Makes a digest' }
    expect(pipeline(options, textTool('a'), textTool('b'))).toMatchObject(options)
    expect(pipeline({ name: 'digest' }, textTool('a')).description).toBe('Pipeline: a')
  })

  it('takes what its first step takes, and gives what its last one gives', () => {
    const tool = pipeline(read, count)
    expect(tool).toMatchObject({ kind: 'typed' })
    expect(tool.inputSchema).toBe(read.inputSchema)
    expect(tool.outputSchema).toBe(count.outputSchema)
    const text = pipeline(textTool('a'), textTool('b'))
    expect(text.kind).toBe('text')
    expect(text.inputSchema).toBe(textTool('a').inputSchema)
    expect(text).not.toHaveProperty('outputSchema')
  })

  it('takes text that is no JSON where its first step is a text tool', async () => {
    const tool = pipeline(textTool('a'), textTool('b'))
    const { result } = await runTool(tool, { id: 'c', name: tool.name, arguments: 'plain words' })
    expect(result.output).toBe('plain words>a>b')
  })

  it('[C2] may take as long as its steps together, unless a limit is set', () => {
    const short = textTool('short', (text) => text, { timeoutMs: 1_000 })
    const endless = textTool('endless', (text) => text, { timeoutMs: Infinity })
    expect(pipeline(short, textTool('b')).timeoutMs).toBe(31_000)
    expect(pipeline(short, endless).timeoutMs).toBe(Infinity)
    expect(pipeline({ timeoutMs: 5 }, short, endless).timeoutMs).toBe(5)
  })

  it('[C2] may be called again when each step may, unless that is set', () => {
    const once = textTool('once', (text) => text, { idempotent: false })
    expect(pipeline(textTool('a'), textTool('b')).idempotent).toBe(true)
    expect(pipeline(textTool('a'), once).idempotent).toBe(false)
    expect(pipeline({ idempotent: true }, once).idempotent).toBe(true)
  })

  it('asks for approval only where its options say so', () => {
    const careful = textTool('careful', (text) => text, { requireApproval: true })
    expect(pipeline(careful).requireApproval).toBe(false)
    expect(pipeline({ requireApproval: true }, careful).requireApproval).toBe(true)
    expect(pipeline({ requireApproval: {} }, careful).requireApproval).toBe(true)
  })

  it('takes the other settings of tools too', () => {
    expect(pipeline({ maxConcurrentCalls: 3 }, read).limiter?.maxConcurrent).toBe(3)
    expect(pipeline(read)).not.toHaveProperty('limiter')
  })

  it('has a body that can be called directly', async () => {
    const tool = pipeline(read, count)
    const expected = ToolResult.success('{"words":3}', { words: 3 })
    expect(await tool.execute({ url: 'abc' }, toolContext())).toEqual(expected)
    expect(await tool.call({ url: 'abc' }, toolContext())).toEqual(expected)
  })

  it('of eight steps and more works like one of two', async () => {
    const s = textTool('s')
    const long = pipeline({ name: 'long' }, s, s, s, s, s, s, s, s, s)
    const { result, steps } = await call(long, { input: '' })
    expect(result.output).toBe('>s'.repeat(9))
    expect(steps.at(-1)).toBe('c/9:s s finished')
  })

  it('keeps nothing between calls', async () => {
    const tool = pipeline(textTool('a'), textTool('b'))
    const results = await Promise.all(
      Array.from({ length: 50 }, (_, index) => call(tool, { input: String(index) })),
    )
    expect(results.map(({ result }) => result.output)).toEqual(
      results.map((_, index) => `${index}>a>b`),
    )
  })
})

describe('[C3] a definition that does not fit is a TypeError', () => {
  /** Calls as a program without types would. */
  const careless = pipeline as (...words: readonly unknown[]) => AgentTool

  it('that names everything', () => {
    const make = (): AgentTool =>
      careless({ name: ' ', description: '', errorStrategy: 'RETRY' }, null, 7)
    expect(make).toThrow(TypeError)
    expect(make).toThrow(
      'Cannot make a pipeline: step 1 must be a tool, got null; step 2 must be a tool, got number; ' +
        'errorStrategy must be "FAIL_FAST" or "CONTINUE_ON_FAILURE", got "RETRY"; ' +
        'Cannot define tool " ": ',
    )
    expect(make).toThrow(/name must be .*; .*description/)
  })

  it('without steps', () => {
    expect(() => careless()).toThrow(
      /^Cannot make a pipeline: step 1 must be a tool, got undefined$/,
    )
    expect(() => careless({ name: 'empty' })).toThrow(
      new TypeError('Cannot make a pipeline: it needs at least one step'),
    )
  })

  it('where a step only looks like a tool', () => {
    const { readInput: _, ...half } = read
    expect(() => careless(half, read)).toThrow(/^Cannot make a pipeline: step 1 must be a tool/)
    expect(() => careless(undefined)).toThrow(/step 1 must be a tool, got undefined/)
    expect(() => careless(read, () => '')).toThrow(/step 2 must be a tool, got function/)
  })

  it('where its own name would be too long: it needs one that is set', () => {
    const long = textTool('a'.repeat(30))
    expect(() => pipeline(long, long, long)).toThrow(
      new TypeError(
        `Cannot make a pipeline: set a name, because "${[long, long, long].map(({ name }) => name).join('_then_')}" has 102 of at most 64 characters`,
      ),
    )
    expect(pipeline({ name: 'short' }, long, long, long).name).toBe('short')
    expect(pipeline(textTool('a'.repeat(28)), long).name).toHaveLength(64)
    expect(() => pipeline(textTool('a'.repeat(29)), long)).toThrow(/has 65 of at most 64/)
  })

  it('where only a setting does not fit', () => {
    expect(() => pipeline({ timeoutMs: 0 }, read)).toThrow(
      new TypeError('Cannot define tool "read": timeoutMs must be > 0, got 0'),
    )
  })
})

describe('the builder', () => {
  it('makes the same tool', async () => {
    const built = pipelineBuilder({ name: 'p', description: 'P' }).step(read).step(count).build()
    expect(built).toMatchObject({ name: 'p', description: 'P', kind: 'typed' })
    expect(built.outputSchema).toBe(count.outputSchema)
    expect((await call(built, { url: 'ab' })).result.structured).toEqual({ words: 2 })
    expect(pipelineBuilder().step(read).step(count).build().name).toBe('read_then_count')
  })

  it('leaves each stage as it is, so that one can lead to several pipelines', async () => {
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

  it('a second adapter on a step replaces the first', async () => {
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

  it('names everything that does not fit when it builds', () => {
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
        'Cannot make a pipeline: step 1 must be a tool, got null; ' +
          'an adapter comes after a step, and there is none before it; ' +
          'the adapter after step 1 must be a function, got string; ' +
          'Cannot define tool "": name must be 1 to 64 letters, digits, "_" or "-"',
      ),
    )
    expect(() => careless.build()).toThrow(/it needs at least one step; Cannot define tool ""/)
  })
})
