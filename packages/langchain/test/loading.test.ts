/** [LC-M1] Tests when LangChain is loaded, and how failed loads are handled. */
import { FakeListChatModel } from '@langchain/core/utils/testing'
import { ChatAnthropic } from '@langchain/anthropic'
import { ChatOpenAI } from '@langchain/openai'
import { describe, expect, test } from 'vitest'

import { langchainModel } from '../src/index.ts'
import { openaiStub } from '../src/testing/index.ts'
import { ask, catchFailure, KEY, REQUEST } from './providers.ts'
import { runScript } from './run-script.ts'

/** Collects the URL of each loaded module, including those loaded by `require`. */
const WATCH_LOADS = `
  import { registerHooks } from 'node:module'
  const urls = []
  registerHooks({ load(url, context, next) { urls.push(url); return next(url, context) } })
  const vendors = () => urls.filter((url) => /langchain\\/core|node_modules\\/langchain|langchain\\/(openai|anthropic)|langsmith|anthropic-ai|\\/openai\\//.test(url))
`

describe('in a separate process', () => {
  test('@tutti/langchain does not load LangChain on import or when a model is created', async () => {
    const loaded = await runScript(`${WATCH_LOADS}
      const { langchainModel } = await import('@tutti/langchain')
      langchainModel('openai:gpt-5-mini')
      langchainModel('anthropic:claude-sonnet-4-5').stream({ messages: [], tools: [], toolChoice: 'auto' }, { signal: new AbortController().signal })
      console.log(JSON.stringify({ count: urls.length, vendors: vendors() }))`)
    expect(loaded).toMatchObject({ vendors: [], count: expect.any(Number) })
  })

  test('@tutti/langchain loads only the package of the called provider on the first call', async () => {
    const loaded = await runScript(`${WATCH_LOADS}
      const { langchainModel } = await import('@tutti/langchain')
      const { openaiStub } = await import('@tutti/langchain/testing')
      const stub = await openaiStub(['hello'])
      const model = langchainModel('openai:gpt-5-mini', { apiKey: 'key', baseUrl: stub.baseUrl })
      const request = { messages: [{ role: 'user', content: 'Hi' }], tools: [], toolChoice: 'auto' }
      for await (const chunk of model.stream(request, { signal: new AbortController().signal })) {}
      await stub.close()
      const has = (part) => vendors().some((url) => url.includes(part))
      console.log(JSON.stringify({ openai: has('langchain/openai'), anthropic: has('langchain/anthropic') || has('anthropic-ai') }))`)
    expect(loaded).toEqual({ openai: true, anthropic: false })
  })

  test('@tutti/langchain names a missing provider package and tries to load it again on the next call', async () => {
    const outcome = await runScript(`
      import { registerHooks } from 'node:module'
      let installed = false
      registerHooks({ resolve(specifier, context, next) {
        const lost = specifier === '@langchain/openai' && !installed
        return next(specifier, lost ? { ...context, parentURL: 'file:///nowhere/index.js' } : context)
      } })
      const { langchainModel } = await import('@tutti/langchain')
      const { openaiStub } = await import('@tutti/langchain/testing')
      const stub = await openaiStub(['hello'])
      const model = langchainModel('openai:gpt-5-mini', { apiKey: 'key', baseUrl: stub.baseUrl })
      const request = { messages: [{ role: 'user', content: 'Hi' }], tools: [], toolChoice: 'auto' }
      const ask = async () => {
        let text = ''
        for await (const chunk of model.stream(request, { signal: new AbortController().signal })) text += chunk.text ?? ''
        return text
      }
      const failure = await ask().catch((error) => error)
      installed = true
      const text = await ask()
      await stub.close()
      console.log(JSON.stringify({ message: failure.message, retryable: failure.retryable, text }))`)
    expect(outcome).toEqual({
      message:
        'Cannot call openai:gpt-5-mini: the package @langchain/openai is not installed; run "npm install @langchain/openai"',
      retryable: false,
      text: 'hello',
    })
  })
})

describe('in this process', () => {
  test('A model loads its package once for concurrent calls', async () => {
    let created = 0
    const make = (): FakeListChatModel => {
      created += 1
      return new FakeListChatModel({ responses: ['hi'] })
    }
    const model = langchainModel(make, { provider: 'fake', name: 'list' })
    const answers = await Promise.all([ask(model), ask(model), ask(model)])
    expect(answers.map(({ reply }) => reply.text)).toEqual(['hi', 'hi', 'hi'])
    expect(created).toBe(1)
  })

  test('A model repeats a failed load on the next call', async () => {
    const outcomes = [new Error('not yet'), new FakeListChatModel({ responses: ['hi'] })]
    const make = (): FakeListChatModel => {
      const outcome = outcomes.shift()
      if (outcome instanceof FakeListChatModel) return outcome
      throw outcome ?? new Error('created too often')
    }
    const model = langchainModel(make, { provider: 'fake', name: 'list' })
    expect(await catchFailure(model)).toMatchObject({
      code: 'MODEL_FAILED',
      message: 'Cannot call fake:list: not yet',
    })
    expect((await ask(model)).reply.text).toBe('hi')
  })

  test('A model streams the characters of a LangChain fake', async () => {
    const model = langchainModel(new FakeListChatModel({ responses: ['käse'] }))
    expect(model).toMatchObject({ provider: 'fake-list', name: 'FakeListChatModel' })
    expect((await ask(model)).texts).toEqual(['k', 'ä', 's', 'e'])
  })

  test('A model calls an Azure deployment with its tools', async () => {
    await using stub = await openaiStub(['from Azure'])
    const model = langchainModel('azure_openai:gpt-4o', {
      apiKey: KEY,
      modelOptions: {
        azureOpenAIApiDeploymentName: 'deployed',
        azureOpenAIApiVersion: '2024-10-21',
        azureOpenAIBasePath: new URL('/openai/deployments', stub.baseUrl).href,
      },
    })
    const tools = [{ name: 'look_up', description: 'Looks up', inputSchema: { type: 'object' } }]
    expect((await ask(model, { ...REQUEST, tools })).reply.text).toBe('from Azure')
    const { path, body } = await stub.request(0)
    expect(path).toBe('/openai/deployments/deployed/chat/completions?api-version=2024-10-21')
    expect(body['tools']).toHaveLength(1)
  })

  test('A model takes provider and name from a LangChain model unless options override them', () => {
    const openai = new ChatOpenAI({ model: 'gpt-4o', apiKey: KEY })
    const anthropic = new ChatAnthropic({ model: 'claude-sonnet-4-5', apiKey: KEY })
    expect(langchainModel(openai)).toMatchObject({ provider: 'openai', name: 'gpt-4o' })
    expect(langchainModel(anthropic)).toMatchObject({
      provider: 'anthropic',
      name: 'claude-sonnet-4-5',
    })
    expect(langchainModel(openai, { name: 'custom' })).toMatchObject({
      provider: 'openai',
      name: 'custom',
    })
  })

  test('A model returns the whole answer of a model that does not stream at once', async () => {
    const model = new FakeListChatModel({ responses: ['all of it'] })
    model.disableStreaming = true
    expect((await ask(langchainModel(model))).texts).toEqual(['all of it'])
  })
})
