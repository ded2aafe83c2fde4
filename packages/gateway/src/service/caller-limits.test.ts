import { USAGE_EXTENSION } from '@tutti/protocol/internal'
import { expect, it } from 'vitest'

import { toRunBudget, describeExceededLimit, readLimits, resolveLimits } from './caller-limits.ts'

const NOW = 1_000

it('The reader of caller limits reads no limits from metadata without limits', () => {
  const none = { ok: true, limits: {} }
  expect(readLimits(undefined)).toEqual(none)
  expect(readLimits({ other: 1 })).toEqual(none)
  expect(toRunBudget({ deadline_ms: 5 })).toEqual({})
})

it('The reader of caller limits reads limits, and uses those on cost and tokens as the budget of a run', () => {
  const limits = { max_cost_usd: 0.5, max_tokens: 5, deadline_ms: 1.5 }
  expect(readLimits({ [USAGE_EXTENSION]: { ...limits, more: 'x' } })).toMatchObject({
    ok: true,
    limits,
  })
  const budget = { maxCostUsd: 0.5, maxTokens: 5 }
  expect(toRunBudget(limits)).toEqual({ budget, isAllowance: true })
})

it('The reader of caller limits reports every invalid limit by its path in the metadata', () => {
  const read = readLimits({ [USAGE_EXTENSION]: { max_cost_usd: '1', deadline_ms: 0 } })
  const index = `/${USAGE_EXTENSION.replaceAll('/', '~1')}`
  expect(read).toMatchObject({
    ok: false,
    problems: [{ path: `${index}/max_cost_usd` }, { path: `${index}/deadline_ms` }],
  })
})

it('The reader of caller limits sets no limit if none is given', () => {
  const limits = resolveLimits({}, NOW)
  expect(limits).toEqual({ maxCostUsd: Infinity, maxTokens: Infinity, deadlineAt: Infinity })
  const usage = { knownCostUsd: 1e9, tokens: 1e12 }
  expect(describeExceededLimit(limits, usage)).toBeUndefined()
})

it('The reader of caller limits counts a deadline from now', () => {
  expect(resolveLimits({ deadline_ms: 500 }, NOW).deadlineAt).toBe(NOW + 500)
})

it('The reader of caller limits allows usage up to the budget, and counts an unknown cost as 0', () => {
  const limits = resolveLimits({ max_cost_usd: 0, max_tokens: 10 }, NOW)
  expect(describeExceededLimit(limits, { tokens: 10 })).toBeUndefined()
  expect(describeExceededLimit(limits, { tokens: 10, knownCostUsd: 0 })).toBeUndefined()
  const costly = { tokens: 10, knownCostUsd: 0.01 }
  expect(describeExceededLimit(limits, costly)).toContain('exceeded max_cost_usd 0')
  expect(describeExceededLimit(limits, { tokens: 11 })).toContain('exceeded max_tokens 10')
})
