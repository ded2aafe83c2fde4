/**
 * Measures one typed tool call: JSON text of five fields is parsed, validated, executed and counted.
 *
 * The same body, input and process for all. The AI SDK does not have a public function that makes one tool call
 * like its agents: it is measured as the slope of `generateText` over the number of tool calls in one step, and, as
 * a cheaper variant, as its public parts combined by hand.
 */
import { createToolMetrics, runTool } from '@tutti/core'

import { compare, type Contestant } from './lib/measure.ts'
import {
  ORDER,
  order,
  ORDER_ARGUMENTS,
  ORDER_OUTPUT,
  orderTool,
  orderZodSchema,
} from './lib/order-tool.ts'
import { importPeer } from './lib/peers.ts'
import { hasPeers } from './lib/form.ts'
import { formatNumber, printTable } from './lib/report.ts'

const peers = hasPeers() ? [await langchainCalls(), ...(await aiSdkCalls())] : []
const results = await compare([await tuttiCalls(), ...peers], { calls: 5_000, rounds: 15 })
const own = results[0]?.us ?? Number.NaN
printTable({
  title: 'One typed tool call',
  columns: ['', 'µs a call', 'times'],
  rows: results.map(({ name, us }) => [name, formatNumber(us), formatNumber(us / own)]),
})

async function tuttiCalls(): Promise<Contestant> {
  const options = {
    metrics: createToolMetrics(),
    signal: new AbortController().signal,
    agentRole: 'Buyer',
  }
  return {
    name: 'tutti runTool',
    async run(count) {
      for (let index = 0; index < count; index += 1) {
        const call = { id: 'call', name: ORDER.name, arguments: ORDER_ARGUMENTS }
        const { result } = await runTool(orderTool, call, options)
        if (!result.success) throw new Error(result.errorMessage)
      }
    },
  }
}

async function langchainCalls(): Promise<Contestant> {
  const { tool } = (await importPeer('@langchain/core/tools')) as any // oxlint-disable-line typescript/no-explicit-any -- a peer without types
  const called = tool(order, { ...ORDER, schema: await orderZodSchema() })
  const { signal } = new AbortController()
  return {
    name: 'LangChain tool().invoke',
    async run(count) {
      for (let index = 0; index < count; index += 1) {
        const call = {
          type: 'tool_call',
          id: 'call',
          name: ORDER.name,
          args: JSON.parse(ORDER_ARGUMENTS),
        }
        const { content } = await called.invoke(call, { signal })
        if (content !== ORDER_OUTPUT) throw new Error(`LangChain gave ${String(content)}`)
      }
    },
  }
}

async function aiSdkCalls(): Promise<readonly Contestant[]> {
  const { asSchema, generateText, stepCountIs, tool } = (await importPeer('ai')) as any // oxlint-disable-line typescript/no-explicit-any -- a peer without types
  const { MockLanguageModelV4 } = (await importPeer('ai/test')) as any // oxlint-disable-line typescript/no-explicit-any -- a peer without types
  const { executeTool, safeParseJSON } = (await importPeer('@ai-sdk/provider-utils')) as any // oxlint-disable-line typescript/no-explicit-any -- a peer without types
  const called = tool({ ...ORDER, inputSchema: await orderZodSchema(), execute: order })
  const pieces: Contestant = {
    name: 'AI SDK tool(), its public pieces by hand',
    async run(count) {
      for (let index = 0; index < count; index += 1) {
        const schema = asSchema(called.inputSchema)
        const parsed = await safeParseJSON({ text: ORDER_ARGUMENTS, schema })
        if (!parsed.success) throw parsed.error
        const options = { toolCallId: 'call', messages: [] }
        for await (const { output } of executeTool({
          tool: called,
          input: parsed.value,
          options,
        })) {
          if (output !== ORDER_OUTPUT) throw new Error(`The AI SDK gave ${String(output)}`)
        }
      }
    },
  }
  const whole: Contestant = {
    name: 'AI SDK tool() in generateText, by the call',
    async run(count) {
      const content = Array.from({ length: count }, (_, index) => ({
        type: 'tool-call',
        toolCallId: `call-${index}`,
        toolName: ORDER.name,
        input: ORDER_ARGUMENTS,
      }))
      const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } }
      const finishReason = { unified: 'tool-calls', raw: 'tool_calls' }
      const model = new MockLanguageModelV4({
        doGenerate: { content, finishReason, usage, warnings: [] },
      })
      const { toolResults } = await generateText({
        model,
        tools: { [ORDER.name]: called },
        prompt: 'Order tea',
        stopWhen: stepCountIs(1),
      })
      if (toolResults.length !== count)
        throw new Error(`The AI SDK made ${toolResults.length} calls`)
    },
  }
  return [pieces, whole]
}
