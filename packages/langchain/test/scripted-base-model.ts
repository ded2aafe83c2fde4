/**
 * A streaming subclass of `BaseChatModel`, such as a user may write. The fakes of LangChain do not cover all cases:
 * they report no usage and stream no tool call chunks.
 */
import { BaseChatModel } from '@langchain/core/language_models/chat_models'
import { AIMessage, AIMessageChunk } from '@langchain/core/messages'
import { ChatGenerationChunk, type ChatResult } from '@langchain/core/outputs'

import type { ScriptedReply } from '@tutti/testing'

class ScriptedBaseModel extends BaseChatModel {
  readonly #script: (ScriptedReply | Error)[]

  constructor(script: readonly (ScriptedReply | Error)[]) {
    super({})
    this.#script = [...script]
  }

  override _llmType(): string {
    return 'scripted'
  }

  override _generate(): Promise<ChatResult> {
    return Promise.resolve({ generations: [{ text: '', message: new AIMessage('') }] })
  }

  override bindTools(): this {
    return this
  }

  override async *_streamResponseChunks(): AsyncGenerator<ChatGenerationChunk> {
    await Promise.resolve()
    const answer = this.#script.shift()
    if (answer === undefined || answer instanceof Error) throw answer ?? new Error('no answer')
    for (const reasoning of answer.reasoning?.match(/\s*\S+/g) ?? []) {
      const content = [{ type: 'reasoning' as const, reasoning, index: 0 }]
      yield new ChatGenerationChunk({ text: '', message: new AIMessageChunk({ content }) })
    }
    for (const text of answer.text?.match(/\s*\S+/g) ?? []) {
      yield new ChatGenerationChunk({ text, message: new AIMessageChunk(text) })
    }
    const { usage } = answer
    const chunks = (answer.toolCalls ?? []).map((call, index) => {
      return { index, name: call.name, args: JSON.stringify(call.arguments), id: call.id ?? '' }
    })
    const { finishReason = chunks.length > 0 ? 'tool_calls' : 'stop', refusal } = answer
    const message = new AIMessageChunk({
      content: '',
      tool_call_chunks: chunks,
      response_metadata: { finish_reason: finishReason },
      additional_kwargs: refusal === undefined ? {} : { refusal },
    })
    if (usage !== undefined) {
      // NOTE: LangChain's constructor accepts usage, but its type does not.
      Object.assign(message, {
        usage_metadata: {
          input_tokens: usage.inputTokens,
          output_tokens: usage.outputTokens,
          total_tokens: usage.inputTokens + usage.outputTokens,
          output_token_details: { reasoning: usage.reasoningTokens },
        },
      })
    }
    yield new ChatGenerationChunk({ text: '', message })
  }
}

/** Creates a model that answers each call with the next entry of `script`. */
export function scriptedBaseModel(script: readonly (ScriptedReply | Error)[]): BaseChatModel {
  return new ScriptedBaseModel(script)
}
