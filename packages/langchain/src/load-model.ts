/**
 * The only place that loads LangChain, and only when a model is first called: its packages take
 * hundreds of milliseconds to load, which a program that merely lists its models should not pay.
 */
import type { ModelIdentity, ResolvedOptions } from './options.ts'
import type { BaseChatModel } from '@langchain/core/language_models/chat_models'

/** The classes of LangChain's messages. */
export type MessageClasses = Pick<
  typeof import('@langchain/core/messages'),
  'AIMessage' | 'HumanMessage' | 'SystemMessage' | 'ToolMessage'
>

/** A model that can be called. */
export interface LoadedModel {
  readonly model: BaseChatModel
  readonly messages: MessageClasses
  /** Texts that no message may hold: the key that the model found by itself. */
  readonly secrets: readonly string[]
}

/** Loads the classes and makes the model. */
export async function loadModel({ identity, source }: ResolvedOptions): Promise<LoadedModel> {
  const messages = await import('@langchain/core/messages')
  const model = await (source.kind === 'named' ? makeNamed(identity, source.fields) : source.make())
  const key = 'apiKey' in model && typeof model.apiKey === 'string' ? [model.apiKey] : []
  return { model, messages, secrets: key }
}

/** Runs `load` once for all callers; a failure is forgotten, so that the next caller tries again. */
export function loadOnce<T>(load: () => Promise<T>): () => Promise<T> {
  let loading: Promise<T> | undefined
  return () => {
    loading ??= load().catch((error: unknown) => {
      loading = undefined
      throw error
    })
    return loading
  }
}

/**
 * The two providers that this package names as peers are loaded from where it can see them.
 * `initChatModel` loads from where `langchain` lies, which strict layouts (Yarn PnP, pnpm without
 * hoisting) do not let see the application's packages; it serves all others.
 */
async function makeNamed(
  { provider, name }: ModelIdentity,
  fields: Readonly<Record<string, unknown>>,
): Promise<BaseChatModel> {
  switch (provider) {
    case 'openai': {
      const { ChatOpenAI } = await import('@langchain/openai')
      return new ChatOpenAI(fields)
    }
    case 'anthropic': {
      const { ChatAnthropic } = await import('@langchain/anthropic')
      return new ChatAnthropic(fields)
    }
    default: {
      const { initChatModel } = await import('langchain/chat_models/universal')
      return initChatModel(name, { ...fields, modelProvider: provider })
    }
  }
}
