/** The AI SDK in the benchmarks `tools` and `agent`, on its published test model. */
import { executeTool, safeParseJSON } from '@ai-sdk/provider-utils'
import { asSchema, generateText, stepCountIs, tool, ToolLoopAgent } from 'ai'
import { convertArrayToReadableStream, MockLanguageModelV4 } from 'ai/test'
import { z } from 'zod'

import {
  answerTo,
  ARGUMENTS,
  order,
  OUTPUT,
  PROMPT,
  ROLE,
  splitWords,
  TOOL,
} from '../../tooling/bench/lib/story.ts'
import { orderSchema } from '../order-schema.js'

const orderTool = tool({ ...TOOL, inputSchema: orderSchema(z), execute: order })
const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } }
const called = { finishReason: { unified: 'tool-calls', raw: 'tool_calls' }, usage }
const stopped = { finishReason: { unified: 'stop', raw: 'stop' }, usage }

/** One tool call: its public parts combined by hand, and as the slope of `generateText` over the number of calls. */
export function tools() {
  return [
    {
      name: 'AI SDK tool(), its public pieces by hand',
      async run(count) {
        for (let index = 0; index < count; index += 1) {
          const schema = asSchema(orderTool.inputSchema)
          const parsed = await safeParseJSON({ text: ARGUMENTS, schema })
          if (!parsed.success) throw parsed.error
          const options = { toolCallId: 'call', messages: [] }
          const outputs = executeTool({ tool: orderTool, input: parsed.value, options })
          for await (const { output } of outputs) {
            if (output !== OUTPUT) throw new Error(`The AI SDK returned ${output}`)
          }
        }
      },
    },
    {
      name: 'AI SDK tool() in generateText, by the call',
      async run(count) {
        const content = Array.from({ length: count }, (_, index) => toolCall(`call-${index}`))
        const { toolResults } = await generateText({
          model: new MockLanguageModelV4({ doGenerate: { content, ...called, warnings: [] } }),
          tools: { [TOOL.name]: orderTool },
          prompt: PROMPT,
          stopWhen: stepCountIs(1),
        })
        if (toolResults.length !== count)
          throw new Error(`The AI SDK made ${toolResults.length} calls instead of ${count}`)
      },
    },
  ]
}

/** `ToolLoopAgent.stream`, read to its end, and `ToolLoopAgent.generate`. */
export function agents() {
  let agent = makeAgent()
  const prepare = () => {
    agent = makeAgent()
  }
  return [
    {
      name: 'AI SDK ToolLoopAgent.stream',
      prepare,
      async run() {
        let text = ''
        const { fullStream } = await agent.stream({ prompt: PROMPT })
        for await (const part of fullStream) if (part.type === 'text-delta') text += part.text ?? ''
        return text
      },
    },
    {
      name: 'AI SDK ToolLoopAgent.generate',
      prepare,
      run: async () => (await agent.generate({ prompt: PROMPT })).text,
    },
  ]
}

function makeAgent() {
  const model = new MockLanguageModelV4({
    doGenerate: async (call) => generated(outputIn(call)),
    doStream: async (call) => ({ stream: convertArrayToReadableStream(streamed(outputIn(call))) }),
  })
  return new ToolLoopAgent({
    model,
    instructions: `You are ${ROLE}.`,
    tools: { [TOOL.name]: orderTool },
  })
}

/** Returns the output of the tool, once it was called. */
function outputIn({ prompt }) {
  const last = prompt.at(-1)
  return last?.role === 'tool' ? last.content[0].output.value : undefined
}

function toolCall(toolCallId = 'call') {
  return { type: 'tool-call', toolCallId, toolName: TOOL.name, input: ARGUMENTS }
}

function generated(output) {
  if (output === undefined) return { content: [toolCall()], ...called, warnings: [] }
  return { content: [{ type: 'text', text: answerTo(output) }], ...stopped, warnings: [] }
}

function streamed(output) {
  const start = { type: 'stream-start', warnings: [] }
  if (output === undefined) return [start, toolCall(), { type: 'finish', ...called }]
  return [
    start,
    { type: 'text-start', id: 'text' },
    ...splitWords(answerTo(output)).map((delta) => ({ type: 'text-delta', id: 'text', delta })),
    { type: 'text-end', id: 'text' },
    { type: 'finish', ...stopped },
  ]
}
