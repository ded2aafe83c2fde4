import { expect, it } from 'vitest'

import { isMet, toClaimResult } from '../../bench/lib/report.ts'
import { toEnvelope } from './envelope.ts'
import { chooseSizes } from './sizes.ts'

const sizes = chooseSizes(true)
const rate = { perSecond: 1_500, times: [1, 2, 3] }

it('The envelope has what was reached before the test ended early, and no other goal is met', () => {
  const { table, claims } = toEnvelope(
    { claims: { by16: rate, by64: rate, buffers: 250 }, renewalWal: 100 },
    sizes,
  )
  expect(table.rows).toContainEqual(['claims by 64', '1,500/s, p50 2.0 ms, p99 3.0 ms', '–'])
  expect(table.rows).toContainEqual([
    'WAL of a renewal',
    '100 B',
    '30 kB/s, from 3 renewals per lease of 10 s',
  ])
  expect(claims.filter(isMet).map(({ text }) => text)).toEqual([
    '16 claimants: at least 1,000 claims/s',
    '64 claimants: at least 1,000 claims/s',
    'leases of 1,000 workers: at most 50 kB/s of WAL',
  ])
  const unmeasured = claims.filter((claim) => toClaimResult(claim).measured === 'not measured')
  expect(unmeasured.length).toBe(claims.length - 4)
})

it('The envelope compares claims next to a snapshot, and events with listeners, with those without', () => {
  const isGoalMet = (slowMs: number, withListeners: number): readonly boolean[] =>
    toEnvelope(
      {
        snapshot: { before: [10], next: [slowMs] },
        events: { alone: 1_000, withListeners },
      },
      sizes,
    )
      .claims.filter(({ text }) => /snapshot|listeners/.test(text))
      .map(isMet)
  expect(isGoalMet(20, 800)).toEqual([true, true])
  expect(isGoalMet(21, 799)).toEqual([false, false])
})
