/** A model for one order, which records nothing, so that it can serve any number of runs. */
import { answerTo, ARGUMENTS, splitWords, TOOL } from './story.ts'

import type { ChatModel } from '../../../packages/ensemble/src/adapter.ts'

/** Calls the tool and then answers immediately. */
export const orderModel: ChatModel = {
  provider: 'scripted',
  name: 'scripted',
  async *stream({ messages }) {
    const last = messages.at(-1)
    const usage = { inputTokens: 1, outputTokens: 1 }
    if (last?.role !== 'tool') {
      const toolCalls = [{ id: 'call', name: TOOL.name, arguments: ARGUMENTS }]
      yield { type: 'reply', reply: { text: '', toolCalls, usage } }
      return
    }
    const pieces = splitWords(answerTo(last.content))
    for (const text of pieces) yield { type: 'text', text }
    yield { type: 'reply', reply: { text: pieces.join(''), toolCalls: [], usage } }
  },
}
