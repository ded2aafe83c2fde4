import { afterEach, expect, it, vi } from 'vitest'

import { currentReport } from '../../bench/lib/report.ts'
import { printEnvelope } from './envelope.ts'
import { chooseSizes } from './sizes.ts'

const sizes = chooseSizes(true)

afterEach(() => {
  vi.restoreAllMocks()
})

it('prints what was reached before the test ended early, and reports no other goal as met', () => {
  vi.spyOn(console, 'log').mockReturnValue(undefined)
  const before = currentReport()
  const rate = { perSecond: 1_500, times: [1, 2, 3] }
  printEnvelope({ claims: { by16: rate, by64: rate, buffers: 250 }, renewalWal: 100 }, sizes)
  const { tables, claims } = currentReport()
  const rows = tables.at(-1)?.rows ?? []
  expect(rows).toContainEqual(['claims by 64', '1,500/s, p50 2.0 ms, p99 3.0 ms', '–'])
  expect(rows).toContainEqual([
    'WAL of a renewal',
    '100 B',
    '30 kB/s, from 3 renewals per lease of 10 s',
  ])
  const met = claims.slice(before.claims.length).filter(({ isMet }) => isMet)
  expect(met.map(({ text }) => text)).toEqual([
    '16 claimants: at least 1,000 claims/s',
    '64 claimants: at least 1,000 claims/s',
    'leases of 1,000 workers: at most 50 kB/s of WAL',
  ])
})
