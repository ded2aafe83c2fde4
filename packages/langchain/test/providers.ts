/** Providers under test, each with a stub and a model that calls it. */
import { langchainModel, type LangchainModelOptions } from '../src/index.ts'
import { anthropicStub, openaiStub, type ProviderStub } from '../src/testing/index.ts'

import type { StubScript } from '../src/testing/index.ts'
import type { ChatModel, ModelReply, ModelRequest } from '@tutti/ensemble/adapter'

/** A provider under test. */
export interface Provider {
  readonly name: 'openai' | 'anthropic'
  readonly model: string
  readonly keyVariable: string
  readonly baseUrlVariable: string
  stub(script: StubScript): Promise<ProviderStub>
}

export const PROVIDERS: readonly Provider[] = [
  {
    name: 'openai',
    model: 'openai:gpt-4o-mini',
    keyVariable: 'OPENAI_API_KEY',
    baseUrlVariable: 'OPENAI_BASE_URL',
    stub: openaiStub,
  },
  {
    name: 'anthropic',
    model: 'anthropic:claude-sonnet-4-5',
    keyVariable: 'ANTHROPIC_API_KEY',
    baseUrlVariable: 'ANTHROPIC_BASE_URL',
    stub: anthropicStub,
  },
]

/** API key of the tests. */
export const KEY = 'key-of-the-tests'

/** Creates a model of `provider` that calls `stub`; by default without a timeout. */
export function modelAt(
  provider: Provider,
  stub: ProviderStub,
  options: LangchainModelOptions = {},
): ChatModel {
  return langchainModel(provider.model, {
    apiKey: KEY,
    baseUrl: stub.baseUrl,
    timeoutMs: 0,
    ...options,
  })
}

/** A minimal request. */
export const REQUEST: ModelRequest = {
  messages: [
    { role: 'system', content: 'You are Tester.' },
    { role: 'user', content: 'Say something.' },
  ],
  tools: [],
  toolChoice: 'auto',
}

/** Result of one call. */
export interface Answer {
  readonly texts: readonly string[]
  readonly reasoning: readonly string[]
  readonly reply: ModelReply
}

/** Reads a call to its end. */
export async function ask(model: ChatModel, request: ModelRequest = REQUEST): Promise<Answer> {
  const texts: string[] = []
  const reasoning: string[] = []
  const { signal } = new AbortController()
  for await (const chunk of model.stream(request, { signal })) {
    if (chunk.type === 'reply') return { texts, reasoning, reply: chunk.reply }
    ;(chunk.type === 'text' ? texts : reasoning).push(chunk.text)
  }
  throw new Error('The stream ended without a reply')
}

/** Returns the error of a call that must fail. */
export async function catchFailure(
  model: ChatModel,
  request: ModelRequest = REQUEST,
): Promise<unknown> {
  return ask(model, request).then(
    () => {
      throw new Error('Expected the call to fail')
    },
    (error: unknown) => error,
  )
}
