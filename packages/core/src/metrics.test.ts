import { expect, it } from 'vitest'

import { createToolMetrics } from './metrics.ts'

const SEARCH = { toolName: 'search', agentRole: 'Researcher' }

it('createToolMetrics counts outcomes and durations by tool and agent role', () => {
  const metrics = createToolMetrics()
  metrics.countCall(SEARCH, 'success', 20)
  metrics.countCall(SEARCH, 'failure', 10)
  metrics.countCall(SEARCH, 'error', 60)
  metrics.countCall({ ...SEARCH, agentRole: 'Writer' }, 'success', 5)
  expect(metrics.snapshot()).toEqual([
    {
      ...SEARCH,
      success: 1,
      failure: 1,
      error: 1,
      durationMs: { count: 3, sum: 90, min: 10, max: 60 },
      counters: {},
      values: {},
    },
    {
      toolName: 'search',
      agentRole: 'Writer',
      success: 1,
      failure: 0,
      error: 0,
      durationMs: { count: 1, sum: 5, min: 5, max: 5 },
      counters: {},
      values: {},
    },
  ])
})

it('createToolMetrics records custom counters and values of a tool', () => {
  const metrics = createToolMetrics()
  metrics.increment(SEARCH, 'cache_hits', 1)
  metrics.increment(SEARCH, 'cache_hits', 2)
  metrics.record(SEARCH, 'bytes', 100)
  metrics.record(SEARCH, 'bytes', 40)
  expect(metrics.snapshot()).toEqual([
    {
      ...SEARCH,
      success: 0,
      failure: 0,
      error: 0,
      counters: { cache_hits: 3 },
      values: { bytes: { count: 2, sum: 140, min: 40, max: 100 } },
    },
  ])
})

it('A snapshot of metrics is a copy, and handles names such as __proto__', () => {
  const metrics = createToolMetrics()
  metrics.increment({ toolName: '__proto__', agentRole: 'constructor' }, 'n', 1)
  const before = metrics.snapshot()
  metrics.increment({ toolName: '__proto__', agentRole: 'constructor' }, 'n', 1)
  expect(before[0]?.counters).toEqual({ n: 1 })
  expect(metrics.snapshot()).toMatchObject([{ toolName: '__proto__', counters: { n: 2 } }])
})
