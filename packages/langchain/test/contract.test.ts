/** Runs the test cases of the model port over the real wire protocols of the providers. */
import { chatModelCases } from '@tutti/testing'
import { afterEach, describe, test } from 'vitest'

import { langchainModel } from '../src/index.ts'
import { anthropicStub, geminiStub, openaiStub, type ProviderStub } from '../src/testing/index.ts'
import { scriptedBaseModel } from './scripted-base-model.ts'

import type { ChatModelSetup } from '@tutti/testing/internal'

const stubs: ProviderStub[] = []

afterEach(async () => {
  await Promise.all(stubs.splice(0).map((stub) => stub.close()))
})

function trackStub(stub: ProviderStub): string {
  stubs.push(stub)
  return stub.baseUrl
}

const SETUPS: Readonly<Record<string, ChatModelSetup>> = {
  'openai by name': async (script) =>
    langchainModel('openai:gpt-4o-mini', {
      apiKey: 'test-key',
      baseUrl: trackStub(await openaiStub(script)),
    }),
  'anthropic by name': async (script) =>
    langchainModel('anthropic:claude-sonnet-4-5', {
      apiKey: 'test-key',
      baseUrl: trackStub(await anthropicStub(script)),
    }),
  'google-genai by name': async (script) =>
    langchainModel('google-genai:gemini-2.5-flash', {
      apiKey: 'test-key',
      baseUrl: trackStub(await geminiStub(script)),
    }),
  'groq by name': async (script) =>
    langchainModel('groq:llama-3.3-70b-versatile', {
      apiKey: 'test-key',
      baseUrl: trackStub(await openaiStub(script)).replace(/\/v1$/, ''),
    }),
  'openai by its Responses API': async (script) =>
    langchainModel('openai:gpt-5.6', {
      apiKey: 'test-key',
      baseUrl: trackStub(await openaiStub(script)),
    }),
  'openai, one byte at a time': async (script) =>
    langchainModel('openai:gpt-4o-mini', {
      apiKey: 'test-key',
      baseUrl: trackStub(await openaiStub(script, { bytesPerWrite: 1 })),
    }),
  'anthropic, one byte at a time': async (script) =>
    langchainModel('anthropic:claude-sonnet-4-5', {
      apiKey: 'test-key',
      baseUrl: trackStub(await anthropicStub(script, { bytesPerWrite: 1 })),
    }),
  'a BaseChatModel of the caller': (script) =>
    Promise.resolve(langchainModel(scriptedBaseModel(script))),
  'a function that makes one': (script) =>
    Promise.resolve(
      langchainModel(() => Promise.resolve(scriptedBaseModel(script)), {
        provider: 'own',
        name: 'made',
      }),
    ),
}

/**
 * Cases that a provider's wire protocol cannot express, by the start of their names. Gemini and Groq have no
 * refusals, and Groq reports usage in a separate field that the OpenAI stub does not send. Anthropic does not report
 * reasoning tokens. LangChain reads neither those of Gemini nor the reasoning of Groq.
 */
const EXCEPTIONS: Readonly<Record<string, readonly string[]>> = {
  'anthropic by name': ['A model reports the reasoning tokens'],
  'anthropic, one byte at a time': ['A model reports the reasoning tokens'],
  'google-genai by name': [
    'A model has the finish reason refusal',
    'A model reports the reasoning tokens',
  ],
  'groq by name': [
    'A model has the finish reason refusal',
    'A model reports the usage',
    'A model reports the reasoning tokens',
    'A model streams its reasoning',
    'A model streams reasoning before',
  ],
}

describe.each(Object.entries(SETUPS))('%s', (setupName, setup) => {
  const except = EXCEPTIONS[setupName] ?? []
  const cases = chatModelCases.filter(({ name }) => !except.some((start) => name.startsWith(start)))
  test.each(cases)('$name', async (modelCase) => {
    await modelCase.run(setup)
  })
})
