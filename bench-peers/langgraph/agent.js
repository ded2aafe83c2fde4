/** The agent that the servers of LangGraph serve. */
import { BaseChatModel } from '@langchain/core/language_models/chat_models'
import { AIMessage, AIMessageChunk } from '@langchain/core/messages'
import { ChatGenerationChunk } from '@langchain/core/outputs'
import { tool } from '@langchain/core/tools'
import { createReactAgent } from '@langchain/langgraph/prebuilt'
import { z } from 'zod'

import { answerTo, INPUT, order, splitWords, TOOL } from '../../tooling/bench/lib/story.ts'
import { orderSchema } from '../order-schema.js'

/** Asks for the tool and then answers at once. It keeps nothing. */
class ScriptedModel extends BaseChatModel {
  _llmType() {
    return 'scripted'
  }

  bindTools() {
    return this
  }

  async _generate(messages) {
    const output = outputIn(messages)
    const message =
      output === undefined
        ? new AIMessage({ content: '', tool_calls: [toolCall()] })
        : new AIMessage(answerTo(output))
    return { generations: [{ text: message.text, message }] }
  }

  async *_streamResponseChunks(messages, _options, runManager) {
    const output = outputIn(messages)
    if (output === undefined) {
      const { id, name, args } = toolCall()
      const call = { id, name, args: JSON.stringify(args), index: 0, type: 'tool_call_chunk' }
      const message = new AIMessageChunk({ content: '', tool_call_chunks: [call] })
      yield new ChatGenerationChunk({ text: '', message })
      return
    }
    for (const text of splitWords(answerTo(output))) {
      const chunk = new ChatGenerationChunk({ text, message: new AIMessageChunk(text) })
      yield chunk
      await runManager?.handleLLMNewToken(text, undefined, undefined, undefined, undefined, {
        chunk,
      })
    }
  }
}

/** What the tool gave, once it was called. */
function outputIn(messages) {
  const last = messages.at(-1)
  return last?.getType() === 'tool' ? String(last.content) : undefined
}

function toolCall() {
  return { id: 'call', name: TOOL.name, args: INPUT, type: 'tool_call' }
}

/** Makes the agent, with a checkpointer or without. */
export function makeAgent(checkpointer) {
  return createReactAgent({
    llm: new ScriptedModel({}),
    tools: [tool(order, { ...TOOL, schema: orderSchema(z) })],
    prompt: 'You are a buyer.',
    checkpointer,
  })
}

/** The agent of the development server, which has its own storage. */
export const graph = makeAgent()
