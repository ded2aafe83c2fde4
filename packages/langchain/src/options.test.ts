import { describe, expect, test } from 'vitest'

import { langchainModel, type LangchainModelOptions, type LangchainSource } from './index.ts'
import { resolveOptions } from './options.ts'

describe('provider and name', () => {
  test('Provider and name are split at the first colon', () => {
    expect(langchainModel('bedrock:anthropic.claude-v2:1')).toMatchObject({
      provider: 'bedrock',
      name: 'anthropic.claude-v2:1',
    })
  })
})

describe('defaults', () => {
  test('[LC-M2] Default settings are ten minutes and no retries by the client', () => {
    expect(resolveOptions('openai:gpt-4o', {})).toMatchObject({
      timeoutMs: 600_000,
      source: { kind: 'named', fields: { model: 'gpt-4o', maxRetries: 0 } },
    })
  })

  test('[LC-M6] Default settings enable structured output for known models, unless the option says otherwise', () => {
    const make = (): never => {
      throw new Error('not called')
    }
    const named = { provider: 'own', name: 'made' }
    expect(langchainModel('openai:gpt-4o').structuredOutput).toBe(true)
    expect(langchainModel('openai:gpt-4o', { structuredOutput: false }).structuredOutput).toBe(
      false,
    )
    expect(langchainModel(make, named).structuredOutput).toBe(false)
    expect(langchainModel(make, { ...named, structuredOutput: true }).structuredOutput).toBe(true)
  })

  test('Default settings omit options that are not set', () => {
    const { source } = resolveOptions('anthropic:claude-sonnet-4-5', {})
    expect(source).toEqual({ kind: 'named', fields: { model: 'claude-sonnet-4-5', maxRetries: 0 } })
  })

  test('Default settings are overridden by modelOptions', () => {
    const { source } = resolveOptions('openai:gpt-4o', {
      temperature: 0,
      modelOptions: { temperature: 1, streamUsage: false },
    })
    expect(source).toMatchObject({ fields: { temperature: 1, streamUsage: false } })
  })
})

test('Model options merge baseUrl with other client settings of OpenAI', () => {
  const { source } = resolveOptions('openai:gpt-4o', {
    baseUrl: 'http://localhost/v1',
    modelOptions: { configuration: { defaultHeaders: { 'x-team': 'a' } } },
  })
  expect(source).toMatchObject({
    fields: {
      configuration: { baseURL: 'http://localhost/v1', defaultHeaders: { 'x-team': 'a' } },
    },
  })
})

const REJECTED: readonly (readonly [LangchainSource, LangchainModelOptions, string])[] = [
  ['gpt-4o', {}, 'Cannot create model "gpt-4o": expected provider:name, for example openai:gpt-5'],
  ['openai:', {}, 'Cannot create model "openai:": expected provider:name'],
  [':gpt-4o', {}, 'Cannot create model ":gpt-4o": expected provider:name'],
  ['openai:gpt-4o', { name: 'other' }, 'name is already part of the string'],
  ['openai:gpt-4o', { maxTokens: 0 }, 'maxTokens must be an integer >= 1, got 0'],
  ['openai:gpt-4o', { temperature: -1 }, 'temperature must be a number >= 0, got -1'],
  ['openai:gpt-4o', { timeoutMs: -1 }, 'timeoutMs must be from 0 to 2147483647, got -1'],
  ['openai:gpt-4o', { timeoutMs: 2 ** 31 }, 'timeoutMs must be from 0 to 2147483647'],
  ['openai:gpt-4o', { timeoutMs: Number.NaN }, 'timeoutMs must be from 0'],
  [
    'openai:gpt-4o',
    { modelOptions: { maxRetries: 1 } },
    'modelOptions must not hold maxRetries: the engine retries',
  ],
  ['openai:gpt-4o', { apiKey: ' ' }, 'apiKey must not be blank'],
  ['openai:gpt-4o', { baseUrl: 'localhost:80' }, 'baseUrl must be an http or https address'],
  ['xai:grok-4', { baseUrl: 'http://localhost' }, 'baseUrl is not known for xai'],
  [() => Promise.reject(new Error('not called')), {}, 'provider must be set in the options'],
  [
    () => Promise.reject(new Error('not called')),
    { name: 'own' },
    'Cannot create model "own": provider must be set in the options',
  ],
  [
    () => Promise.reject(new Error('not called')),
    { provider: 'a', name: 'b', temperature: 1 },
    'temperature must be set on the LangChain model itself',
  ],
]

test.each(REJECTED)('Model options reject %s with options %o: %s', (source, options, problem) => {
  const make = (): unknown => langchainModel(source, options)
  expect(make).toThrow(TypeError)
  expect(make).toThrow(problem)
})

test('Model options name all problems at once', () => {
  const options = { maxTokens: 0, timeoutMs: -1 }
  expect(() => langchainModel('openai:gpt-4o', options)).toThrow(/maxTokens .*; timeoutMs /)
  expect(() => langchainModel('gpt-4o')).toThrow(/^[^;]*"gpt-4o"[^;]*$/)
})
