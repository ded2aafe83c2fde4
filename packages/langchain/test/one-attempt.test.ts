/** [LC-M2] Tests that a call makes one request, and that its failure shows whether and when to retry. */
import { ChatAnthropic } from '@langchain/anthropic'
import { ChatOpenAI } from '@langchain/openai'
import { describe, expect, test } from 'vitest'

import { langchainModel } from '../src/index.ts'
import { catchFailure, KEY, modelAt, PROVIDERS, REQUEST } from './providers.ts'

import type { Provider } from './providers.ts'

const BUSY = { status: 503, message: 'Busy' }

/** Models under test, including one that uses OpenAI's Responses API. */
const MODELS: readonly (readonly [string, Provider])[] = [
  ...PROVIDERS.map((provider) => [provider.model, provider] as const),
  ...PROVIDERS.slice(0, 1).map(
    (provider) => ['openai:gpt-5.6', { ...provider, model: 'openai:gpt-5.6' }] as const,
  ),
]

describe.each(MODELS)('%s', (_name, provider) => {
  test.each([429, 500, 503, 529])(
    '[LC-M2] A call makes no second request after status %i',
    async (status) => {
      await using stub = await provider.stub(() => ({ status }))
      expect(await catchFailure(modelAt(provider, stub))).toMatchObject({ retryable: true })
      expect(stub.requests).toHaveLength(1)
    },
  )

  test('[LC-M2] A call makes no second request when the connection breaks before the first text', async () => {
    await using stub = await provider.stub(() => ({ text: '', ending: 'drop' }))
    expect(await catchFailure(modelAt(provider, stub))).toMatchObject({ retryable: true })
    expect(stub.requests).toHaveLength(1)
  })

  test.each(['drop', 'truncate', 'error'] as const)(
    '[LC-M4] A call fails as retryable when an answer ends with %s after its first text',
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
  ])('[LC-M4] A call reads headers %o as a delay of %i ms', async (headers, retryAfterMs) => {
    await using stub = await provider.stub([{ ...BUSY, headers }])
    expect(await catchFailure(modelAt(provider, stub))).toMatchObject({
      retryable: true,
      details: { retryAfterMs },
    })
  })

  test('[LC-M4] A call ignores an invalid Retry-After', async () => {
    await using stub = await provider.stub([{ ...BUSY, headers: { 'retry-after': 'soon' } }])
    const error = await catchFailure(modelAt(provider, stub))
    expect(error).not.toHaveProperty('details.retryAfterMs')
  })

  test('[LC-M4] A call follows x-should-retry of the provider', async () => {
    await using stub = await provider.stub([
      { ...BUSY, headers: { 'x-should-retry': 'false' } },
      { status: 400, headers: { 'x-should-retry': 'true' } },
    ])
    const model = modelAt(provider, stub)
    expect(await catchFailure(model)).toMatchObject({ retryable: false })
    expect(await catchFailure(model)).toMatchObject({ retryable: true })
  })
})

test('[LC-M2] A call disables the retries of a model that the caller creates', async () => {
  const [openai, anthropic] = PROVIDERS
  if (openai === undefined || anthropic === undefined) throw new Error('no providers')
  await using first = await openai.stub(() => BUSY)
  await using second = await anthropic.stub(() => BUSY)
  const own = { apiKey: KEY, maxRetries: 6 }
  const models = [
    new ChatOpenAI({ ...own, model: 'gpt-4o', configuration: { baseURL: first.baseUrl } }),
    new ChatAnthropic({ ...own, model: 'claude-sonnet-4-5', anthropicApiUrl: second.baseUrl }),
  ]
  for (const model of models) await catchFailure(langchainModel(model))
  expect([first.requests.length, second.requests.length]).toEqual([1, 1])
})
