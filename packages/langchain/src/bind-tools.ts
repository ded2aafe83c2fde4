/** Tells a LangChain model of the tools that it may call. */
import { TuttiError } from '@tutti/core'

import type { ModelIdentity } from './options.ts'
import type { BaseLanguageModelInput } from '@langchain/core/language_models/base'
import type {
  BaseChatModel,
  BaseChatModelCallOptions,
} from '@langchain/core/language_models/chat_models'
import type { AIMessageChunk } from '@langchain/core/messages'
import type { Runnable } from '@langchain/core/runnables'
import type { ModelRequest, ToolSpecification } from '@tutti/ensemble'

/** Keywords that Anthropic refuses at the root of a schema; LangChain would drop such a tool silently. */
const ROOT_KEYWORDS = ['anyOf', 'oneOf', 'allOf']

/** Something of LangChain that answers a conversation with a stream. */
export type StreamingModel = Pick<
  Runnable<BaseLanguageModelInput, AIMessageChunk, BaseChatModelCallOptions>,
  'stream'
>

/**
 * `model` with the tools of `request`, or as it is when there are none. Tools go in OpenAI's form: the
 * one that every provider class of LangChain takes with the schema as it is, with no conversion.
 *
 * @throws {TuttiError} TOOL_CONFIGURATION when the model or its provider cannot take them.
 */
export function bindTools(
  model: BaseChatModel,
  identity: ModelIdentity,
  { tools, toolChoice }: Pick<ModelRequest, 'tools' | 'toolChoice'>,
): StreamingModel {
  if (tools.length === 0) return model
  const label = `${identity.provider}:${identity.name}`
  if (model.bindTools === undefined) {
    throw new TuttiError('TOOL_CONFIGURATION', `Cannot call ${label} with tools: it takes none`)
  }
  if (identity.provider === 'anthropic') assertObjectSchemas(tools, label)
  return model.bindTools(
    tools.map(({ name, description, inputSchema }) => ({
      type: 'function',
      function: { name, description, parameters: inputSchema },
    })),
    toolChoice === 'none' ? { tool_choice: 'none' } : {},
  )
}

function assertObjectSchemas(tools: readonly ToolSpecification[], label: string): void {
  for (const { name, inputSchema } of tools) {
    const keyword = ROOT_KEYWORDS.find((key) => Object.hasOwn(inputSchema, key))
    if (keyword === undefined) continue
    throw new TuttiError(
      'TOOL_CONFIGURATION',
      `Cannot call ${label} with tool "${name}": Anthropic takes no "${keyword}" at the root of an input schema; put it into a property of an object`,
    )
  }
}
