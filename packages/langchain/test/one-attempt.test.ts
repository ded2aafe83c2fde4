/** [M2] A call makes one request, and its failure says what the engine must know to make another. */
import { ChatAnthropic } from '@langchain/anthropic'
import { ChatOpenAI } from '@langchain/openai'
import { describe, expect, test } from 'vitest'

import { langchainModel } from '../src/index.ts'
import { failureOf, KEY, modelAt, PROVIDERS, REQUEST } from './providers.ts'

import type { Provider } from './providers.ts'

const BUSY = { status: 503, message: 'Busy' }

/** The models of the tests, and the one that OpenAI serves by its Responses API. */
const MODELS: readonly (readonly [string, Provider])[] = [
  ...PROVIDERS.map((provider) => [provider.model, provider] as const),
  ...PROVIDERS.slice(0, 1).map(
    (provider) => ['openai:gpt-5.6', { ...provider, model: 'openai:gpt-5.6' }] as const,
  ),
]

describe.each(MODELS)('%s', (_name, provider) => {
  test.each([429, 500, 503, 529])('[M2] status %i makes no second request', async (status) => {
    await using stub = await provider.stub(() => ({ status }))
    expect(await failureOf(modelAt(provider, stub))).toMatchObject({ retryable: true })
    expect(stub.requests).toHaveLength(1)
  })

  test('[M2] a connection that breaks before the first text makes no second request', async () => {
    await using stub = await provider.stub(() => ({ text: '', ending: 'drop' }))
    expect(await failureOf(modelAt(provider, stub))).toMatchObject({ retryable: true })
    expect(stub.requests).toHaveLength(1)
  })

  test.each(['drop', 'truncate', 'error'] as const)(
    '[M4] an answer that ends with %s after text was passed on is retryable too',
    async (ending) => {
      await using stub = await provider.stub(() => ({ text: 'one two three', ending }))
      const texts: string[] = []
      const { signal } = new AbortController()
      const reading = async (): Promise<void> => {
        for await (const chunk of modelAt(provider, stub).stream(REQUEST, { signal })) {
          if (chunk.type === 'text') texts.push(chunk.text)
        }
      }
      await expect(reading()).rejects.toMatchObject({ code: 'MODEL_FAILED', retryable: true })
      expect(stub.requests).toHaveLength(1)
      if (ending !== 'drop') expect(texts.join('')).toBe('one two three')
    },
  )

  test.each([
    [{ 'retry-after': '7' }, 7_000],
    [{ 'retry-after': '3600' }, 3_600_000],
    [{ 'retry-after-ms': '250', 'retry-after': '1' }, 250],
    [
      {
        date: 'Wed, 21 Oct 2026 07:28:00 GMT',
        'retry-after': 'Wed, 21 Oct 2026 07:28:30 GMT',
      },
      30_000,
    ],
  ])('[M4] a wait asked for with %o is told as %i ms', async (headers, retryAfterMs) => {
    await using stub = await provider.stub([{ ...BUSY, headers }])
    expect(await failureOf(modelAt(provider, stub))).toMatchObject({
      retryable: true,
      details: { retryAfterMs },
    })
  })

  test('[M4] a wait that is no time is not told', async () => {
    await using stub = await provider.stub([{ ...BUSY, headers: { 'retry-after': 'soon' } }])
    const error = await failureOf(modelAt(provider, stub))
    expect(error).not.toHaveProperty('details.retryAfterMs')
  })

  test('[M4] the provider has the last word on whether to retry', async () => {
    await using stub = await provider.stub([
      { ...BUSY, headers: { 'x-should-retry': 'false' } },
      { status: 400, headers: { 'x-should-retry': 'true' } },
    ])
    const model = modelAt(provider, stub)
    expect(await failureOf(model)).toMatchObject({ retryable: false })
    expect(await failureOf(model)).toMatchObject({ retryable: true })
  })
})

test('[M2] a model that the caller made does not use its own retries either', async () => {
  const [openai, anthropic] = PROVIDERS
  if (openai === undefined || anthropic === undefined) throw new Error('no providers')
  await using first = await openai.stub(() => BUSY)
  await using second = await anthropic.stub(() => BUSY)
  const own = { apiKey: KEY, maxRetries: 6 }
  const models = [
    new ChatOpenAI({ ...own, model: 'gpt-4o', configuration: { baseURL: first.baseUrl } }),
    new ChatAnthropic({ ...own, model: 'claude-sonnet-4-5', anthropicApiUrl: second.baseUrl }),
  ]
  for (const model of models) await failureOf(langchainModel(model))
  expect([first.requests.length, second.requests.length]).toEqual([1, 1])
})
