/**
 * Loads LangChain, only when a model is first called: its packages take hundreds of milliseconds to load,
 * and a program may only list its models.
 */
import { copyWith, findLimits } from './copy-model.ts'
import { adaptGeminiClient } from './gemini-client.ts'
import { providerFacts } from './providers.ts'
import { createRepairingFetch, type ProviderFetch } from './wire/repair-fetch.ts'

import type { ResolvedOptions } from './options.ts'
import type { ModelIdentity } from './providers.ts'
import type { BaseChatModel } from '@langchain/core/language_models/chat_models'

/** LangChain drops a refusal of OpenAI's chat completions, unless the raw response is included with each piece. */
const RAW_ANSWERS = { __includeRawResponse: true }

/** LangChain's message classes. */
export type MessageClasses = Pick<
  typeof import('@langchain/core/messages'),
  'AIMessage' | 'HumanMessage' | 'SystemMessage' | 'ToolMessage'
>

/** A model that is ready for calls. */
export interface LoadedModel {
  readonly model: BaseChatModel
  readonly messages: MessageClasses
  /** Returns the model with another limit of its answers, in tokens; itself when its class has no limit. */
  readonly limitedTo: (maxOutputTokens: number) => Promise<BaseChatModel>
  /** Whether every answer has a finish reason; undefined when that is not known of the class. */
  readonly saysWhyItEnds: boolean | undefined
  /** Texts that no message may contain: the key that the model read from its environment. */
  readonly secrets: readonly string[]
}

/** Loads the classes and creates the model. */
export async function loadModel({ identity, source }: ResolvedOptions): Promise<LoadedModel> {
  const messages = await import('@langchain/core/messages')
  const loaded = await (source.kind === 'named'
    ? loadNamed(identity, source.fields)
    : loadFromFactory(source.make, `${identity.provider}:${identity.name}`))
  const { model } = loaded
  const key = 'apiKey' in model && typeof model.apiKey === 'string' ? [model.apiKey] : []
  return { ...loaded, messages, secrets: key }
}

type Loaded = Pick<LoadedModel, 'model' | 'limitedTo' | 'saysWhyItEnds'>

async function loadNamed(identity: ModelIdentity, fields: Fields): Promise<Loaded> {
  const { limitField = 'maxTokens', hidesFinishReason = false } =
    providerFacts(identity.provider) ?? {}
  const make = async (more: Fields): Promise<BaseChatModel> => {
    const model = await createNamed(identity, { ...fields, ...more })
    adaptGeminiClient(model)
    return model
  }
  return {
    model: await make({}),
    limitedTo: (maxOutputTokens) => make({ [limitField]: maxOutputTokens }),
    saysWhyItEnds: !hidesFinishReason,
  }
}

async function loadFromFactory(
  make: () => BaseChatModel | Promise<BaseChatModel>,
  label: string,
): Promise<Loaded> {
  const made = await make()
  adaptGeminiClient(made)
  const settings = repairingSettings(made, label)
  const model = settings === undefined ? made : copyWith(made, settings)
  return {
    model,
    limitedTo: (limit) => Promise.resolve(copyWith(model, findLimits(model, limit))),
    saysWhyItEnds: undefined,
  }
}

/**
 * Returns the settings with which a copy of `model` repairs the answers of its service; undefined for a class whose
 * client is not known here. The clients of OpenAI and Anthropic are created at the first call.
 */
function repairingSettings(model: BaseChatModel, label: string): Fields | undefined {
  if ('clientConfig' in model) {
    const clientConfig = withFetch(model.clientConfig, label)
    return { ...RAW_ANSWERS, clientConfig, configuration: clientConfig, client: undefined }
  }
  if ('streamingClient' in model || 'batchClient' in model || 'clientOptions' in model) {
    const clientOptions = withFetch(readSetting(model, 'clientOptions'), label)
    return { clientOptions, streamingClient: undefined, batchClient: undefined }
  }
  const client = readSetting(model, 'client')
  return hasOptions(client)
    ? { client: client.withOptions(withFetch({ fetch: readSetting(client, 'fetch') }, label)) }
    : undefined
}

/** A client that can be copied with other options, as that of Groq. */
interface OptionsClient {
  withOptions(options: Fields): unknown
}

function hasOptions(client: unknown): client is OptionsClient {
  return (
    typeof client === 'object' &&
    client !== null &&
    'withOptions' in client &&
    typeof client.withOptions === 'function'
  )
}

function readSetting(value: object, name: string): unknown {
  return Reflect.get(value, name)
}

type Fields = Readonly<Record<string, unknown>>

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
 * Loads the packages of providers that are peer dependencies of this package from its own location.
 * `initChatModel` loads them from the location of `langchain`, where strict layouts (Yarn PnP, pnpm without
 * hoisting) hide packages of the application; it serves all other providers.
 */
async function createNamed(identity: ModelIdentity, fields: Fields): Promise<BaseChatModel> {
  const { provider, name } = identity
  const label = `${provider}:${name}`
  switch (provider) {
    case 'openai': {
      const { ChatOpenAI } = await import('@langchain/openai')
      return new ChatOpenAI(openaiFields(fields, label))
    }
    case 'azure_openai': {
      const { AzureChatOpenAI } = await import('@langchain/openai')
      return new AzureChatOpenAI(openaiFields(fields, label))
    }
    case 'anthropic': {
      const { ChatAnthropic } = await import('@langchain/anthropic')
      return new ChatAnthropic({
        ...fields,
        clientOptions: withFetch(fields['clientOptions'], label),
      })
    }
    case 'google-genai': {
      const { ChatGoogleGenerativeAI } = await import('@langchain/google-genai')
      return new ChatGoogleGenerativeAI({ model: name, ...fields })
    }
    case 'groq': {
      const { ChatGroq } = await import('@langchain/groq')
      return new ChatGroq({ model: name, ...withFetch(fields, label) })
    }
    default: {
      const { initChatModel } = await import('langchain/chat_models/universal')
      return initChatModel(name, { ...fields, modelProvider: provider })
    }
  }
}

function openaiFields(fields: Fields, label: string): Fields {
  return {
    ...fields,
    ...RAW_ANSWERS,
    configuration: withFetch(fields['configuration'], label),
  }
}

function withFetch(settings: unknown, label: string): Fields {
  const given: Fields = typeof settings === 'object' && settings !== null ? { ...settings } : {}
  const { fetch } = given
  return {
    ...given,
    fetch: createRepairingFetch(
      label,
      typeof fetch === 'function' ? (fetch as ProviderFetch) : undefined,
    ),
  }
}
