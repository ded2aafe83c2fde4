/** Measures lists of runs of a loaded store, while nothing else uses it. */
import { quantile } from '../../bench/lib/runs-table.ts'
import { openPostgresStorage, type PostgresLocation } from '../../bench/lib/runs-locations.ts'

import type { RunQuery } from '../../../packages/runs/src/ports/run-store.ts'

const LIMIT = 50

/** Filters of lists: all kinds and some combinations, with many, few, no, and only old runs, and the 20th page. */
const FILTERS: readonly Partial<RunQuery>[] = [
  {},
  { statuses: ['FAILED'] },
  { statuses: ['COMPLETED'] },
  { statuses: ['RUNNING'] },
  { statuses: ['WAITING_REVIEW'] },
  { statuses: ['FAILED', 'WAITING_REVIEW'] },
  { tag: { key: 'team', value: 't3' } },
  { tag: { key: 'team' } },
  { statuses: ['FAILED'], tag: { key: 'team', value: 't50' } },
  { ensemble: 'shop' },
  { ensemble: 'shop', statuses: ['COMPLETED'] },
  { text: 'no such text' },
  { text: 'report' },
  { text: 'report', statuses: ['FAILED'] },
  { offset: 19 * LIMIT },
]

/** Number of lists with each filter, after one that is not measured. */
const ROUNDS = 10

/** Times of lists in milliseconds. */
export interface ListTimes {
  readonly all: readonly number[]
  /** The filter with the greatest median, as JSON, and its times. */
  readonly slowest: { readonly filter: string; readonly times: readonly number[] }
}

/** Measures lists with each filter. */
export async function measureLists(location: PostgresLocation): Promise<ListTimes> {
  await using storage = await openPostgresStorage(location)
  const byFilter = new Map(FILTERS.map((filter) => [JSON.stringify(filter), [] as number[]]))
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const filter of FILTERS) {
      const askedAt = performance.now()
      await storage.runs.list({ limit: LIMIT, ...filter })
      if (round > 0) byFilter.get(JSON.stringify(filter))?.push(performance.now() - askedAt)
    }
  }
  const lists = [...byFilter].map(([filter, times]) => ({ filter, times }))
  const [first, ...others] = lists.toSorted(
    (a, b) => quantile(b.times, 0.5) - quantile(a.times, 0.5),
  )
  if (first === undefined) throw new Error('There are no filters')
  return { all: [first, ...others].flatMap(({ times }) => times), slowest: first }
}
