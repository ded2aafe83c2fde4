import { expect, test } from 'vitest'

import { hasStructuredMode } from './providers.ts'

const KNOWN: readonly (readonly [provider: string, name: string, known: boolean])[] = [
  ['openai', 'gpt-4o', true],
  ['openai', 'gpt-4o-mini', true],
  ['openai', 'gpt-4o-2024-08-06', true],
  ['openai', 'ft:gpt-4o-mini-2024-07-18:house::a1', true],
  ['openai', 'gpt-4.1-nano', true],
  ['openai', 'gpt-5-mini', true],
  ['openai', 'gpt-5.6', true],
  ['openai', 'o1', true],
  ['openai', 'o3-mini', true],
  ['openai', 'gpt-4o-2024-05-13', false],
  ['openai', 'gpt-4o-audio-preview', false],
  ['openai', 'gpt-4o-mini-search-preview', false],
  ['openai', 'gpt-4', false],
  ['openai', 'gpt-4-turbo', false],
  ['openai', 'gpt-3.5-turbo', false],
  ['openai', 'o1-mini', false],
  ['openai', 'o1-preview', false],
  ['openai', 'llama-3.3-70b', false],
  ['openai', 'deepseek-chat', false],
  ['anthropic', 'claude-sonnet-4-5', true],
  ['anthropic', 'claude-haiku-4-5-20251001', true],
  ['anthropic', 'claude-opus-4-7', true],
  ['anthropic', 'claude-opus-5', true],
  ['anthropic', 'claude-sonnet-4-20250514', false],
  ['anthropic', 'claude-sonnet-4-0', false],
  ['anthropic', 'claude-opus-4-1', false],
  ['anthropic', 'claude-3-5-sonnet-latest', false],
  ['groq', 'gpt-4o', false],
  ['toString', 'gpt-4o', false],
]

test.each(KNOWN)('[LC-M6] hasStructuredMode for %s:%s returns %s', (provider, name, known) => {
  expect(hasStructuredMode({ provider, name })).toBe(known)
})
