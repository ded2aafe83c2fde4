import { ChatOpenAI } from '@langchain/openai'
import { createToolMetrics, defineTextTool, defineTool, ToolResult, Type } from '@tutti/core'
import { describe, expect, it } from 'vitest'

import { openaiStub } from '../testing/index.ts'
import { fromLangChainTool } from './from-langchain-tool.ts'
import { toLangChainTool } from './to-langchain-tool.ts'

const add = defineTool({
  name: 'add',
  description: 'Adds two numbers',
  input: Type.Object({ a: Type.Number({ description: 'First' }), b: Type.Number() }),
  output: Type.Object({ sum: Type.Number() }),
  execute: ({ a, b }) => ({ sum: a + b }),
})

describe('toLangChainTool', () => {
  it('[LC-TT1] toLangChainTool copies the name, the description and the schema of the tool', async () => {
    const adapted = await toLangChainTool(add)
    expect(adapted).toMatchObject({ name: 'add', description: 'Adds two numbers' })
    expect(adapted.schema).toBe(add.inputSchema)
  })

  it('[LC-TT1] toLangChainTool sends the schema to the provider unchanged', async () => {
    await using stub = await openaiStub(['fine'])
    const model = new ChatOpenAI({
      model: 'gpt-4o-mini',
      maxRetries: 0,
      apiKey: 'key-of-the-tests',
      configuration: { baseURL: stub.baseUrl },
    })
    for await (const _ of await model.bindTools([await toLangChainTool(add)]).stream('Add')) {
      // The test only reads the request.
    }
    const { body } = await stub.request(0)
    expect(body).toMatchObject({
      tools: [
        { function: { name: 'add', parameters: JSON.parse(JSON.stringify(add.inputSchema)) } },
      ],
    })
  })

  it('[LC-TT2] toLangChainTool returns the text as content and the value as artifact', async () => {
    const adapted = await toLangChainTool(add)
    expect(await adapted.invoke({ a: 1, b: 2 })).toBe('{"sum":3}')
    const message: unknown = await adapted.invoke({
      type: 'tool_call',
      id: 'call-7',
      name: 'add',
      args: { a: 1, b: 2 },
    })
    expect(message).toMatchObject({
      content: '{"sum":3}',
      artifact: { sum: 3 },
      tool_call_id: 'call-7',
    })
  })

  it('[LC-TT2] toLangChainTool applies the timeout, ids and metrics of Tutti', async () => {
    const metrics = createToolMetrics()
    const ids: string[] = []
    const slow = defineTextTool({
      name: 'slow',
      description: 'Slow',
      timeoutMs: 5,
      execute(_, { callId, agentRole }) {
        ids.push(`${agentRole} ${callId}`)
        return new Promise(() => undefined)
      },
    })
    const adapted = await toLangChainTool(slow, { metrics, agentRole: 'Guest' })
    const call = { type: 'tool_call', id: 'call-7', name: 'slow', args: { input: 'x' } } as const
    await expect(adapted.invoke(call)).rejects.toThrow('Tool "slow" timed out after 5 ms')
    expect(ids).toEqual(['Guest call-7'])
    expect(metrics.snapshot()).toMatchObject([{ agentRole: 'Guest', error: 1 }])
  })

  it('[LC-TT3] toLangChainTool throws a failure with the text for the model', async () => {
    const failing = defineTextTool({
      name: 'x',
      description: 'X',
      execute: () => ToolResult.failure('No such city'),
    })
    const adapted = await toLangChainTool(failing)
    await expect(adapted.invoke({ input: 'Atlantis' })).rejects.toThrow(new Error('No such city'))
  })

  it('toLangChainTool throws an early exit and a misconfigured tool with their error codes', async () => {
    const guarded = defineTextTool({
      name: 'x',
      description: 'X',
      requireApproval: true,
      execute: () => 'ok',
    })
    const alone = await toLangChainTool(guarded)
    await expect(alone.invoke({ input: 'x' })).rejects.toMatchObject({ code: 'TOOL_CONFIGURATION' })
    const reviewer = { decide: () => Promise.resolve({ action: 'EXIT_EARLY' } as const) }
    const reviewed = await toLangChainTool(guarded, { reviewer })
    await expect(reviewed.invoke({ input: 'x' })).rejects.toMatchObject({ code: 'EXIT_EARLY' })
  })

  it('toLangChainTool ends the call on abort and throws the reason of the signal', async () => {
    const controller = new AbortController()
    const waiting = defineTextTool({
      name: 'x',
      description: 'X',
      execute: (_, { signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => {
            reject(new Error('Stopped'))
          })
          controller.abort(new Error('Enough'))
        }),
    })
    const adapted = await toLangChainTool(waiting)
    await expect(adapted.invoke({ input: 'x' }, { signal: controller.signal })).rejects.toThrow(
      'Enough',
    )
  })

  it('toLangChainTool lets LangChain reject invalid input', async () => {
    const adapted = await toLangChainTool(add)
    await expect(adapted.invoke({ a: 'one' })).rejects.toThrow(
      'Received tool input did not match expected schema',
    )
  })

  it('toLangChainTool preserves name, description and schema in a round trip', async () => {
    const back = await fromLangChainTool(await toLangChainTool(add))
    expect(back).toMatchObject({ name: 'add', description: 'Adds two numbers', kind: 'typed' })
    expect(back.inputSchema).toBe(add.inputSchema)
  })
})
