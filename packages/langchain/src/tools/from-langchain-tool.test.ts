import { DynamicStructuredTool, DynamicTool, tool } from '@langchain/core/tools'
import { ToolMessage } from '@langchain/core/messages'
import { createToolMetrics, runTool, ToolResult } from '@tutti/core'
import { describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { z as z3 } from 'zod/v3'

import { fromLangChainTool } from './from-langchain-tool.ts'

import type { AgentTool, ToolCallOutcome } from '@tutti/core'

const zodSchema = z.object({
  city: z.string().describe('Where'),
  days: z.number().int().min(1).default(3),
  when: z.string().transform((text) => text.toUpperCase()),
})

describe('fromLangChainTool', () => {
  it('[LC-FT1] fromLangChainTool copies the name, the description and the JSON Schema of the tool', async () => {
    const adapted = await fromLangChainTool(
      tool(() => 'ok', { name: 'forecast', description: 'Forecasts', schema: zodSchema }),
    )
    expect(adapted).toMatchObject({ name: 'forecast', description: 'Forecasts', kind: 'typed' })
    expect(adapted.inputSchema).toMatchObject({
      type: 'object',
      properties: {
        city: { type: 'string', description: 'Where' },
        days: { type: 'integer', minimum: 1, default: 3 },
      },
    })
  })

  it('[LC-FT1] fromLangChainTool passes a JSON Schema on unchanged', async () => {
    const schema = {
      type: 'object',
      properties: { a: { type: 'number' } },
      required: ['a'],
    } as const
    const adapted = await fromLangChainTool(
      new DynamicStructuredTool({
        name: 'a',
        description: 'A',
        schema,
        func: () => Promise.resolve('ok'),
      }),
    )
    expect(adapted.inputSchema).toBe(schema)
  })

  it('[LC-FT2] fromLangChainTool passes the input through the schema of the tool exactly once', async () => {
    const func = vi.fn<(input: unknown) => string>(() => 'sunny')
    const adapted = await fromLangChainTool(
      tool(func, { name: 'forecast', description: 'Forecasts', schema: zodSchema }),
    )
    const { result } = await call(adapted, { city: 'Bonn', when: 'may', mood: 'good' })
    expect(result).toEqual(ToolResult.success('sunny'))
    expect(func.mock.calls[0]?.[0]).toEqual({ city: 'Bonn', days: 3, when: 'MAY' })
  })

  it('[LC-FT2] fromLangChainTool rejects input that fails a refinement without running the body', async () => {
    const func = vi.fn<() => string>()
    const schema = z.object({ n: z.number().refine((n) => n % 2 === 1, 'must be odd') })
    const adapted = await fromLangChainTool(tool(func, { name: 'odd', description: 'Odd', schema }))
    const { result, end } = await call(adapted, { n: 2 })
    expect(end).toBe('finished')
    expect(result.errorMessage).toMatch(/^Invalid input for "odd": .*\n\n.*must be odd/s)
    expect(func).not.toHaveBeenCalled()
  })

  it('fromLangChainTool reports every problem of the input and coerces near-miss values', async () => {
    const schema = z.object({ a: z.number(), b: z.boolean() })
    const adapted = await fromLangChainTool(
      tool(({ a, b }) => `${a} ${String(b)}`, { name: 'x', description: 'X', schema }),
    )
    expect((await call(adapted, {})).result.errorMessage).toBe(
      'Invalid input for "x": /a is required; /b is required',
    )
    expect((await call(adapted, { a: '5', b: 'true' })).result.output).toBe('5 true')
  })

  it('fromLangChainTool accepts Zod 3 schemas', async () => {
    const adapted = await fromLangChainTool(
      new DynamicStructuredTool({
        name: 'x',
        description: 'X',
        // Zod 3 types are not assignable to LangChain types with exactOptionalPropertyTypes.
        schema: z3.object({ a: z3.number() }) as never,
        func: ({ a }: { readonly a: number }) => Promise.resolve(`${a + 1}`),
      }),
    )
    expect((await call(adapted, { a: 1 })).result.output).toBe('2')
  })

  it('fromLangChainTool converts a single-string tool into a text tool', async () => {
    const adapted = await fromLangChainTool(
      new DynamicTool({
        name: 'shout',
        description: 'Shouts',
        func: (text) => Promise.resolve(text.toUpperCase()),
      }),
    )
    expect(adapted.kind).toBe('text')
    expect((await call(adapted, { input: 'hey' })).result.output).toBe('HEY')
  })

  it('[LC-FT3] fromLangChainTool returns the content as text and the artifact as structured result', async () => {
    const adapted = await fromLangChainTool(
      tool(() => ['two hits', [{ title: 'A' }, { title: 'B' }]], {
        name: 'search',
        description: 'Searches',
        schema: z.object({}),
        responseFormat: 'content_and_artifact',
      }),
    )
    expect((await call(adapted, {})).result).toEqual(
      ToolResult.success('two hits', [{ title: 'A' }, { title: 'B' }]),
    )
  })

  it.each([
    ['an object', { degrees: 21 }, '{"degrees":21}'],
    ['a number', 21, '21'],
    [
      'blocks of text',
      [
        { type: 'text', text: 'a' },
        { type: 'text', text: 'b' },
      ],
      'a\nb',
    ],
    ['mixed blocks', [{ type: 'text', text: 'a' }, { type: 'image' }], 'a\n{"type":"image"}'],
    ['undefined', undefined, ''],
  ])('fromLangChainTool converts %s to text', async (_, value, text) => {
    const adapted = await fromLangChainTool(
      tool(() => value, { name: 'x', description: 'X', schema: z.object({}) }),
    )
    expect((await call(adapted, {})).result.output).toBe(text)
  })

  it('fromLangChainTool reports a message with status error as a failure', async () => {
    const adapted = await fromLangChainTool(
      tool(() => new ToolMessage({ content: 'No such city', status: 'error', tool_call_id: 'x' }), {
        name: 'x',
        description: 'X',
        schema: z.object({}),
      }),
    )
    expect((await call(adapted, {})).result).toEqual(ToolResult.failure('No such city'))
  })

  it('fromLangChainTool reports a thrown error', async () => {
    const metrics = createToolMetrics()
    const adapted = await fromLangChainTool(
      tool(
        () => {
          throw new Error('Broken')
        },
        { name: 'x', description: 'X', schema: z.object({}) },
      ),
    )
    const outcome = await runTool(adapted, { id: 'c', name: 'x', arguments: '{}' }, { metrics })
    expect(outcome).toMatchObject({ end: 'threw', result: ToolResult.failure('Broken') })
    expect(metrics.snapshot()).toMatchObject([{ error: 1 }])
  })

  it('fromLangChainTool passes the abort signal to the tool in its config', async () => {
    const controller = new AbortController()
    const given = Promise.withResolvers<AbortSignal | undefined>()
    const adapted = await fromLangChainTool(
      tool(
        async (_: object, config: { readonly signal?: AbortSignal }) => {
          given.resolve(config.signal)
          await new Promise((_resolve, reject) => {
            config.signal?.addEventListener('abort', () => {
              reject(new Error('Stopped'))
            })
          })
          return 'never'
        },
        { name: 'x', description: 'X', schema: z.object({}) },
      ),
    )
    const running = runTool(
      adapted,
      { id: 'c', name: 'x', arguments: '{}' },
      { signal: controller.signal },
    )
    expect((await given.promise)?.aborted).toBe(false)
    controller.abort()
    expect(await running).toMatchObject({ end: 'cancelled' })
  })

  it('fromLangChainTool overrides LangChain settings with the given options', async () => {
    const adapted = await fromLangChainTool(
      tool(() => 'ok', { name: 'has spaces', description: 'X', schema: z.object({}) }),
      { name: 'good', timeoutMs: 5, requireApproval: true, idempotent: false },
    )
    expect(adapted).toMatchObject({
      name: 'good',
      timeoutMs: 5,
      requireApproval: true,
      idempotent: false,
    })
  })

  it('fromLangChainTool rejects a name that is not valid in Tutti', async () => {
    const invalid = tool(() => 'ok', { name: 'has spaces', description: 'X', schema: z.object({}) })
    await expect(fromLangChainTool(invalid)).rejects.toThrow('Cannot define tool "has spaces"')
  })
})

function call(adapted: AgentTool, input: object): Promise<ToolCallOutcome> {
  return runTool(adapted, { id: 'c1', name: adapted.name, arguments: JSON.stringify(input) })
}
