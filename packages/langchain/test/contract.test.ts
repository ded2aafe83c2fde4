/** Every adapter of the model port passes its cases; these run over the providers' real wire. */
import { chatModelCases } from '@tutti/testing'
import { afterEach, describe, test } from 'vitest'

import { langchainModel } from '../src/index.ts'
import { anthropicStub, openaiStub, type ProviderStub } from '../src/testing/index.ts'
import { scriptedBaseModel } from './scripted-base-model.ts'

import type { ChatModelSetup } from '@tutti/testing'

const stubs: ProviderStub[] = []

afterEach(async () => {
  await Promise.all(stubs.splice(0).map((stub) => stub.close()))
})

function started(stub: ProviderStub): string {
  stubs.push(stub)
  return stub.baseUrl
}

const SETUPS: Readonly<Record<string, ChatModelSetup>> = {
  'openai by name': async (script) =>
    langchainModel('openai:gpt-4o-mini', {
      apiKey: 'test-key',
      baseUrl: started(await openaiStub(script)),
    }),
  'anthropic by name': async (script) =>
    langchainModel('anthropic:claude-sonnet-4-5', {
      apiKey: 'test-key',
      baseUrl: started(await anthropicStub(script)),
    }),
  'openai by its Responses API': async (script) =>
    langchainModel('openai:gpt-5.6', {
      apiKey: 'test-key',
      baseUrl: started(await openaiStub(script)),
    }),
  'openai, one byte at a time': async (script) =>
    langchainModel('openai:gpt-4o-mini', {
      apiKey: 'test-key',
      baseUrl: started(await openaiStub(script, { bytesPerWrite: 1 })),
    }),
  'anthropic, one byte at a time': async (script) =>
    langchainModel('anthropic:claude-sonnet-4-5', {
      apiKey: 'test-key',
      baseUrl: started(await anthropicStub(script, { bytesPerWrite: 1 })),
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

describe.each(Object.entries(SETUPS))('%s', (_name, setup) => {
  test.each(chatModelCases)('$name', async (modelCase) => {
    await modelCase.run(setup)
  })
})
