/** [LC-M4] Tests the errors of failed calls. */
import { createServer } from 'node:http'

import { ChatOpenAI } from '@langchain/openai'
import { TuttiError } from '@tutti/core'
import { errorMessage } from '@tutti/core/internal'
import { afterEach, describe, expect, test, vi } from 'vitest'

import { langchainModel } from '../src/index.ts'
import { ask, catchFailure, KEY, modelAt, PROVIDERS } from './providers.ts'

afterEach(() => {
  vi.unstubAllEnvs()
})

const STATUSES: readonly (readonly [status: number, retryable: boolean])[] = [
  [400, false],
  [401, false],
  [403, false],
  [404, false],
  [408, true],
  [409, true],
  [413, false],
  [422, false],
  [429, true],
  [500, true],
  [502, true],
  [503, true],
  [504, true],
  [529, true],
]

/** Returns the URL of a port without a listener. */
async function deadUrl(): Promise<string> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  return `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/v1`
}

describe.each(PROVIDERS)('$name', (provider) => {
  test.each(STATUSES)(
    'A failed call with status %i has retryable %s',
    async (status, retryable) => {
      await using stub = await provider.stub([{ status, message: 'The message of the provider' }])
      const error = await catchFailure(modelAt(provider, stub))
      expect(TuttiError.isInstance(error)).toBe(true)
      expect(error).toMatchObject({ code: 'MODEL_FAILED', retryable, details: { status } })
      expect(errorMessage(error)).toMatch(`Cannot call ${provider.model}: ${status} The message of`)
      expect(stub.requests).toHaveLength(1)
    },
  )

  test('A failed call names the environment variable for a 401 and shows no key', async () => {
    const message = `Incorrect API key provided: ${KEY} (also seen: sk-proj-abcdef123456)`
    await using stub = await provider.stub([{ status: 401, message }])
    const error = await catchFailure(modelAt(provider, stub))
    const cause = error instanceof Error ? error.cause : undefined
    const shown = JSON.stringify([
      errorMessage(error),
      errorMessage(cause),
      cause instanceof Error ? [Object.entries(cause), cause.stack] : [],
    ])
    expect(shown).toContain(`check ${provider.keyVariable}`)
    expect(shown).not.toContain(KEY)
    expect(shown).not.toContain('abcdef123456')
  })

  test('A failed call does not show a key from the environment', async () => {
    await using stub = await provider.stub([{ status: 401, message: 'Bad key: from-environment' }])
    vi.stubEnv(provider.keyVariable, 'from-environment')
    const model = langchainModel(provider.model, { baseUrl: stub.baseUrl })
    expect(errorMessage(await catchFailure(model))).not.toContain('from-environment')
  })

  test('A failed call reports a missing key before sending a request', async () => {
    await using stub = await provider.stub([])
    vi.stubEnv(provider.keyVariable, undefined)
    const model = langchainModel(provider.model, { baseUrl: stub.baseUrl })
    const error = await catchFailure(model)
    expect(error).toMatchObject({ code: 'MODEL_FAILED', retryable: false })
    expect(errorMessage(error)).toBe(
      `Cannot call ${provider.model}: there is no API key; set ${provider.keyVariable} or the option apiKey`,
    )
    expect(stub.requests).toHaveLength(0)
  })

  test('A call reads the base URL from the environment', async () => {
    await using stub = await provider.stub(['from the environment'])
    vi.stubEnv(provider.baseUrlVariable, stub.baseUrl)
    const { reply } = await ask(langchainModel(provider.model, { apiKey: KEY }))
    expect(reply.text).toBe('from the environment')
  })

  test('A failed call reports an unreachable service as retryable, with the reason', async () => {
    const baseUrl = await deadUrl()
    const model = langchainModel(provider.model, { apiKey: KEY, baseUrl })
    const error = await catchFailure(model)
    expect(error).toMatchObject({ retryable: true, details: { code: 'ECONNREFUSED' } })
    expect(errorMessage(error)).toContain('Connection error (connect ECONNREFUSED')
  })

  test.each(['drop', 'truncate', 'error'] as const)(
    'A call passes the text on and then fails as retryable when an answer ends with %s',
    async (ending) => {
      await using stub = await provider.stub([{ text: 'one two three', ending }])
      const texts: string[] = []
      const { signal } = new AbortController()
      const reading = async (): Promise<void> => {
        const request = { messages: [{ role: 'user', content: 'Count.' }], tools: [] } as const
        const stream = modelAt(provider, stub).stream(
          { ...request, toolChoice: 'auto' },
          { signal },
        )
        for await (const chunk of stream) if (chunk.type === 'text') texts.push(chunk.text)
      }
      await expect(reading()).rejects.toMatchObject({ code: 'MODEL_FAILED', retryable: true })
      // NOTE: a reset connection may lose bytes that were already sent.
      if (ending === 'drop') expect('one two three').toMatch(texts.join(''))
      else expect(texts.join('')).toBe('one two three')
    },
  )

  test('A failed call truncates a long error page', async () => {
    await using stub = await provider.stub([{ status: 502, body: `<html>${'x'.repeat(9_000)}` }])
    expect(errorMessage(await catchFailure(modelAt(provider, stub))).length).toBeLessThan(1_200)
  })
})

describe('configuration', () => {
  test('A used-up quota is not a retryable failure', async () => {
    const [openai] = PROVIDERS
    if (openai === undefined) throw new Error('no provider')
    const spent = { status: 429, type: 'insufficient_quota', code: 'insufficient_quota' }
    await using stub = await openai.stub([spent])
    const error = await catchFailure(modelAt(openai, stub))
    expect(error).toMatchObject({ retryable: false, details: { code: 'insufficient_quota' } })
    expect(stub.requests).toHaveLength(1)
  })

  test('A failed call names a provider package that is not installed', async () => {
    const error = await catchFailure(langchainModel('mistralai:large', { apiKey: KEY }))
    expect(error).toMatchObject({ code: 'MODEL_FAILED', retryable: false })
    expect(errorMessage(error)).toBe(
      'Cannot call mistralai:large: the package @langchain/mistralai is not installed; run "npm install @langchain/mistralai"',
    )
  })

  test('The model factory rejects an unknown provider when the model is created', () => {
    expect(() => langchainModel('unknown:model')).toThrow(
      /^Cannot create model "unknown:model": LangChain has no provider "unknown" \(known: .*openai/,
    )
    expect(() => langchainModel('opnai:gpt-5')).toThrow('did you mean "openai"?')
    expect(() => langchainModel('gemini:pro')).toThrow(
      'LangChain has no provider "gemini" (did you mean "google-genai"?)',
    )
    expect(() => langchainModel('Claude:opus')).toThrow('did you mean "anthropic"?')
  })

  test('A call fails with TOOL_CONFIGURATION when a model of the caller does not support tools', async () => {
    const model = new ChatOpenAI({ model: 'gpt-4o-mini', apiKey: KEY })
    Object.defineProperty(model, 'bindTools', { value: undefined })
    const tools = [{ name: 'look_up', description: 'Looks up', inputSchema: { type: 'object' } }]
    const error = await catchFailure(langchainModel(model), {
      messages: [{ role: 'user', content: 'Go' }],
      tools,
      toolChoice: 'auto',
    })
    expect(error).toMatchObject({ code: 'TOOL_CONFIGURATION' })
  })
})
