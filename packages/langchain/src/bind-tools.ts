/** Binds the tools of a request to a LangChain model. */
import { TuttiError } from '@tutti/core'

import { toObjectSchema } from './tools/to-object-schema.ts'

import type { ModelIdentity } from './providers.ts'
import type { BaseLanguageModelInput } from '@langchain/core/language_models/base'
import type {
  BaseChatModel,
  BaseChatModelCallOptions,
} from '@langchain/core/language_models/chat_models'
import type { AIMessageChunk } from '@langchain/core/messages'
import type { Runnable } from '@langchain/core/runnables'
import type { ModelRequest, ToolSpecification } from '@tutti/ensemble'

/** A LangChain runnable that streams an answer to a conversation. */
export type StreamingModel = Pick<
  Runnable<BaseLanguageModelInput, AIMessageChunk, BaseChatModelCallOptions>,
  'stream'
>

/**
 * Returns `model` with the tools of `request`, or `model` itself when there are none. Tools are sent in OpenAI's
 * form, because every provider class of LangChain accepts it with an unchanged schema. A choice at the root of a
 * schema, which providers reject, becomes an object.
 *
 * @throws {TuttiError} TOOL_CONFIGURATION when the model or its provider does not accept the tools.
 */
export function bindTools(
  model: BaseChatModel,
  identity: ModelIdentity,
  { tools, toolChoice }: Pick<ModelRequest, 'tools' | 'toolChoice'>,
): StreamingModel {
  if (tools.length === 0) return model
  const label = `${identity.provider}:${identity.name}`
  if (model.bindTools === undefined) {
    throw new TuttiError(
      'TOOL_CONFIGURATION',
      `Cannot call ${label} with tools: it does not support tools`,
    )
  }
  return model.bindTools(
    tools.map((tool) => ({ type: 'function', function: toFunction(tool, label) })),
    toolChoice === 'none' ? { tool_choice: 'none' } : {},
  )
}

function toFunction(
  { name, description, inputSchema }: ToolSpecification,
  label: string,
): { readonly name: string; readonly description: string; readonly parameters: object } {
  const converted = toObjectSchema(inputSchema)
  if (converted === undefined) {
    throw new TuttiError(
      'TOOL_CONFIGURATION',
      `Cannot call ${label} with tool "${name}": the input schema must be an object or a choice of objects; move the other forms to a property of an object`,
    )
  }
  const { schema, note } = converted
  const words = note === undefined ? description : `${description}\n${note}`
  return { name, description: words, parameters: schema }
}
