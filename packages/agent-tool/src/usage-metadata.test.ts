import { USAGE_EXTENSION } from '@tutti/protocol/internal'
import { expect, test } from 'vitest'

import { toLimitsMetadata, readUsageMetadata } from './usage-metadata.ts'

test('The usage metadata contain only limits that exist', () => {
  expect(
    toLimitsMetadata({ timeMs: Infinity, costUsd: Infinity, tokens: Infinity }),
  ).toBeUndefined()
  expect(toLimitsMetadata({ timeMs: 0, costUsd: 0, tokens: Infinity })).toEqual({
    [USAGE_EXTENSION]: { max_cost_usd: 0 },
  })
  expect(toLimitsMetadata({ timeMs: 1499.5, costUsd: Infinity, tokens: 20.5 })).toEqual({
    [USAGE_EXTENSION]: { max_tokens: 20, deadline_ms: 1500 },
  })
})

test.each([
  [undefined, undefined],
  [{ cost_usd: 1 }, { costUsd: 1 }],
  [
    { cost_usd: 1, [USAGE_EXTENSION]: { cost_usd: 2, total_tokens: 3 } },
    { costUsd: 2, totalTokens: 3 },
  ],
  [{ [USAGE_EXTENSION]: { total_cost_usd: 4, total_tokens: -1 } }, { totalCostUsd: 4 }],
  [{ cost_usd: '1', [USAGE_EXTENSION]: 7 }, undefined],
])('The usage metadata in %j are read', (metadata, usage) => {
  expect(readUsageMetadata(metadata)).toEqual(usage)
})
