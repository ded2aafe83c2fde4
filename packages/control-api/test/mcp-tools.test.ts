import { defineTextTool, defineTool, toolCatalog, ToolResult, TuttiError, Type } from '@tutti/core'
import { describe, expect, it } from 'vitest'

import { connectClient, MODES, textOf } from './mcp-client.ts'
import { openServer } from './open-server.ts'

const TOOLS = [
  defineTextTool({ name: 'shout', description: 'Shouts', execute: (text) => text.toUpperCase() }),
  defineTool({
    name: 'tune',
    description: 'Tunes',
    idempotent: false,
    input: Type.Object({ hertz: Type.Number({ minimum: 20 }) }),
    output: Type.Object({ note: Type.String() }),
    execute: ({ hertz }) => ToolResult.success(`Tuned to ${hertz}`, { note: 'A' }),
  }),
  defineTool({
    name: 'count',
    description: 'Counts',
    input: Type.Object({}),
    output: Type.Array(Type.Integer()),
    execute: () => [1, 2, 3],
  }),
  defineTool({
    name: 'loose',
    description: 'Gives a value that it did not promise',
    input: Type.Object({}),
    execute: () => ToolResult.success('Four', 4),
  }),
  defineTool({
    name: 'flat',
    description: 'Fails',
    input: Type.Object({}),
    execute: () => ToolResult.failure('The string is too loose'),
  }),
  defineTool({
    name: 'broken',
    description: 'Throws',
    input: Type.Object({}),
    execute: () => {
      throw new Error('A string snapped')
    },
  }),
  defineTool({
    name: 'unset',
    description: 'Is set up wrongly',
    input: Type.Object({}),
    execute: () => {
      throw new TuttiError('TOOL_CONFIGURATION', 'The key is secret-4711')
    },
  }),
  defineTool({
    name: 'careful',
    description: 'Asks first',
    requireApproval: true,
    input: Type.Object({}),
    execute: () => 'Done without asking',
  }),
]

function orchestra() {
  return openServer({ tools: toolCatalog(TOOLS) })
}

describe.each(MODES)('the tools of the catalog over MCP, with a client of mode %s', (mode) => {
  it('The tools of the catalog over MCP report their progress in increasing numbers', async () => {
    const rehearse = defineTool({
      name: 'rehearse',
      description: 'Rehearses',
      input: Type.Object({}),
      execute(_, { reportProgress }) {
        reportProgress({ message: 'first half', fraction: 0.5 })
        reportProgress('second half')
        return 'Rehearsed'
      },
    })
    await using api = await openServer({ tools: toolCatalog([rehearse]) })
    await using peer = await connectClient(api, { mode })
    expect(textOf(await peer.call('rehearse'))).toBe('Rehearsed')
    await peer.heard('second half')
    expect(peer.notes.map(({ progress, message }) => [progress, message])).toEqual([
      [1, 'first half'],
      [2, 'second half'],
    ])
  })

  it('The tools of the catalog over MCP are listed in the order of the catalog, before the ensembles', async () => {
    await using api = await orchestra()
    await using peer = await connectClient(api, { mode })
    const { tools } = await peer.client.listTools()
    expect(tools.map(({ name }) => name)).toEqual([...TOOLS.map(({ name }) => name), 'band'])
    expect(tools[1]).toMatchObject({
      title: 'tune',
      description: 'Tunes',
      inputSchema: { type: 'object', required: ['hertz'] },
      outputSchema: { type: 'object', required: ['note'] },
      annotations: { idempotentHint: false },
    })
    expect(tools[0]?.annotations).toBeUndefined()
  })

  it('The tools of the catalog over MCP are limited to the list of shared names', async () => {
    await using api = await openServer({
      tools: toolCatalog(TOOLS),
      shared: { tools: ['shout'], ensembles: [] },
    })
    await using peer = await connectClient(api, { mode })
    const { tools } = await peer.client.listTools()
    expect(tools.map(({ name }) => name)).toEqual(['shout'])
    await expect(peer.call('tune', { hertz: 440 })).rejects.toMatchObject({ code: -32_602 })
  })

  it('The tools of the catalog over MCP return their text, and their value according to the listed schema', async () => {
    await using api = await orchestra()
    await using peer = await connectClient(api, { mode })
    const { tools } = await peer.client.listTools()
    expect(await peer.call('shout', { input: 'forte' })).toMatchObject({
      content: [{ type: 'text', text: 'FORTE' }],
    })
    expect(await peer.call('tune', { hertz: 440 })).toMatchObject({
      content: [{ type: 'text', text: 'Tuned to 440' }],
      structuredContent: { note: 'A' },
    })
    expect(tools[2]?.outputSchema).toMatchObject({
      type: 'object',
      properties: { result: { type: 'array' } },
      required: ['result'],
    })
    expect(await peer.call('count')).toMatchObject({ structuredContent: { result: [1, 2, 3] } })
    expect(await peer.call('loose')).toMatchObject({ structuredContent: { result: 4 } })
  })

  it('The tools of the catalog over MCP fail with results that a model can read', async () => {
    await using api = await orchestra()
    await using peer = await connectClient(api, { mode })
    const failed = async (name: string, given = {}) => {
      const result = await peer.call(name, given)
      expect(result.isError).toBe(true)
      return textOf(result)
    }
    expect(await failed('flat')).toBe('The string is too loose')
    expect(await failed('broken')).toContain('A string snapped')
    expect(await failed('tune', { hertz: 1 })).toContain('/input/hertz must be >= 20')
    expect(await failed('tune')).toContain('/input/hertz')
    expect(await failed('careful')).toContain('requires a review')
    const unset = await failed('unset')
    expect(unset).toContain('misconfigured')
    expect(unset).not.toContain('4711')
  })

  it('The tools of the catalog over MCP name the REST error code of a refusal', async () => {
    await using api = await orchestra()
    await using peer = await connectClient(api, { mode })
    const { _meta: meta } = await peer.call('tune', { hertz: 1 })
    expect(meta?.['tutti/error']).toMatchObject({
      error: 'BAD_REQUEST',
      problems: [expect.objectContaining({ path: '/input/hertz' })],
    })
  })

  it('[GW-M2] The tools of the catalog over MCP return a protocol error with the known names for an unknown name', async () => {
    await using api = await orchestra()
    await using peer = await connectClient(api, { mode })
    await expect(peer.call('tunes')).rejects.toMatchObject({
      code: -32_602,
      message: expect.stringMatching(/Unknown tool 'tunes'.*shout, tune.*Did you mean 'tune'/s),
    })
  })

  it('The tools of the catalog over MCP handle 20 calls at once, each with its own result', async () => {
    await using api = await orchestra()
    await using peer = await connectClient(api, { mode })
    const words = Array.from({ length: 20 }, (_, index) => `word${index}`)
    const results = await Promise.all(words.map((input) => peer.call('shout', { input })))
    expect(results.map(textOf)).toEqual(words.map((word) => word.toUpperCase()))
  })

  it('The tools of the catalog over MCP refuse a call beyond the limit with the time to wait', async () => {
    const gate = Promise.withResolvers<string>()
    const first = Promise.withResolvers<void>()
    const slow = defineTool({
      name: 'slow',
      description: 'Waits',
      input: Type.Object({}),
      execute() {
        first.resolve()
        return gate.promise
      },
    })
    await using api = await openServer({ tools: toolCatalog([slow]), maxToolCalls: 1 })
    await using peer = await connectClient(api, { mode })
    const waiting = peer.call('slow')
    await first.promise
    const refused = await peer.call('slow')
    expect([refused.isError, textOf(refused)]).toEqual([
      true,
      'Limit of concurrent tool calls reached: 1 (retry in 1 s)',
    ])
    gate.resolve('At last')
    expect(textOf(await waiting)).toBe('At last')
  })

  it('The tools of the catalog over MCP abort their signal when the caller abandons the call', async () => {
    const aborted = Promise.withResolvers<void>()
    const started = Promise.withResolvers<void>()
    const slow = defineTool({
      name: 'slow',
      description: 'Waits',
      input: Type.Object({}),
      async execute(_input, { signal }) {
        signal.addEventListener('abort', () => aborted.resolve())
        started.resolve()
        await aborted.promise
        return 'stopped'
      },
    })
    await using api = await openServer({ tools: toolCatalog([slow]) })
    await using peer = await connectClient(api, { mode })
    const patience = new AbortController()
    const call = peer.call('slow', {}, patience.signal)
    await started.promise
    patience.abort()
    await expect(call).rejects.toThrow('abort')
    await aborted.promise
    // The connection is still usable.
    expect((await peer.client.listTools()).tools[0]?.name).toBe('slow')
  })
})
