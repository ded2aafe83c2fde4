/** Binds the tools of a request to a LangChain model. */
import { TuttiError } from '@tutti/core'

import type { ModelIdentity } from './providers.ts'
import type { BaseLanguageModelInput } from '@langchain/core/language_models/base'
import type {
  BaseChatModel,
  BaseChatModelCallOptions,
} from '@langchain/core/language_models/chat_models'
import type { AIMessageChunk } from '@langchain/core/messages'
import type { Runnable } from '@langchain/core/runnables'
import type { ModelRequest } from '@tutti/ensemble/adapter'

/** A LangChain runnable that streams an answer to a conversation. */
export type StreamingModel = Pick<
  Runnable<BaseLanguageModelInput, AIMessageChunk, BaseChatModelCallOptions>,
  'stream'
>

/**
 * Returns `model` with the tools of a prepared request, or `model` itself when there are none. Tools are sent in
 * OpenAI's form, because every provider class of LangChain accepts it with an unchanged schema.
 *
 * @throws {TuttiError} TOOL_CONFIGURATION when the model does not accept tools.
 */
export function bindTools(
  model: BaseChatModel,
  identity: ModelIdentity,
  { tools, toolChoice }: Pick<ModelRequest, 'tools' | 'toolChoice'>,
): StreamingModel {
  if (tools.length === 0) return model
  if (model.bindTools === undefined) {
    throw new TuttiError(
      'TOOL_CONFIGURATION',
      `Cannot call ${identity.provider}:${identity.name} with tools: it does not support tools`,
    )
  }
  return model.bindTools(
    tools.map(({ name, description, inputSchema }) => ({
      type: 'function',
      function: { name, description, parameters: isEmpty(inputSchema) ? undefined : inputSchema },
    })),
    toolChoice === 'none' ? { tool_choice: 'none' } : {},
  )
}

/** Returns whether a tool must have no schema, because its provider accepts none without properties. */
function isEmpty(inputSchema: object): boolean {
  return Object.keys(inputSchema).length === 0
}
