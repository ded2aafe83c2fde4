import { silentLogger, TuttiError } from '@tutti/core'
import { fakeClock } from '@tutti/testing'
import { expect, it } from 'vitest'

import { anyone } from '../caller.ts'
import { holdToLimits, limitOver, runLimits } from './caller-limits.ts'

import type { GatewayOptions } from '../gateway-options.ts'
import type { RunRecord } from '@tutti/runs'

const NOW = 1_000

it('what is not said is no limit', () => {
  const limits = runLimits({}, NOW)
  expect(limits).toEqual({ maxCostUsd: Infinity, maxTokens: Infinity, deadlineAt: Infinity })
  expect(limitOver(limits, { costUsd: 1e9, tokens: 1e12 }, Number.MAX_SAFE_INTEGER)).toBeUndefined()
})

it('a deadline counts from now, and is over when it is reached', () => {
  const limits = runLimits({ deadline_ms: 500 }, NOW)
  expect(limitOver(limits, { tokens: 0 }, 1_499)).toBeUndefined()
  expect(limitOver(limits, { tokens: 0 }, 1_500)).toContain('deadline')
})

it('a budget is over when it is passed; a cost that is not known is none', () => {
  const limits = runLimits({ max_cost_usd: 0, max_tokens: 10 }, NOW)
  expect(limitOver(limits, { tokens: 10 }, NOW)).toBeUndefined()
  expect(limitOver(limits, { tokens: 10, costUsd: 0 }, NOW)).toBeUndefined()
  expect(limitOver(limits, { tokens: 10, costUsd: 0.01 }, NOW)).toContain('max_cost_usd was 0')
  expect(limitOver(limits, { tokens: 11 }, NOW)).toContain('max_tokens was 10')
})

/** Runs whose events are read as `reads` says, and the ids of those that were cancelled. */
function held(reads: readonly (Error | readonly object[])[], state = 'READY') {
  const cancelled: string[] = []
  const clock = fakeClock()
  let count = 0
  const runs = {
    state,
    async *follow() {
      const read = reads[count] ?? []
      count += 1
      if (read instanceof Error) throw read
      yield read
    },
    async send(runId: string) {
      cancelled.push(runId)
      return { status: 'CANCELLED' }
    },
  }
  // NOTE: no other part is used.
  const options = { runs, clock, logger: silentLogger } as unknown as GatewayOptions
  const limits = runLimits({ max_tokens: 3 }, clock.now())
  // NOTE: nothing but the id is used.
  const run = { runId: 'run-1' } as RunRecord
  const done = holdToLimits(run, limits, { options, caller: anyone() })
  return { done, cancelled, clock, reads: () => count }
}

const call = { type: 'llm_iteration_completed', inputTokens: 1, outputTokens: 1 }
const away = new TuttiError('STORE_UNAVAILABLE', 'Away', { retryable: true })

it('a run is cancelled once, when the sum of its calls is over the limit', async () => {
  const within = held([[call, { type: 'token' }]])
  await within.done
  expect(within.cancelled).toEqual([])
  const over = held([[call, call]])
  await over.done
  expect(over.cancelled).toEqual(['run-1'])
})

it('events that cannot be read are read again, from the first', async () => {
  const { done, cancelled, clock, reads } = held([away, [call], [call, call]])
  await clock.advance(999)
  expect(reads()).toBe(1)
  await clock.advance(1)
  await done
  expect([reads(), cancelled]).toEqual([2, []])
})

it.each([
  [new Error('A fault'), 'READY'],
  [away, 'DRAINING'],
])('it is given up for good after %s while %s', async (error, state) => {
  const { done, reads, clock } = held([error, [call, call]], state)
  await done
  expect([reads(), clock.pending]).toEqual([1, 0])
})
