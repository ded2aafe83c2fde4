/** Measures lists of runs of a loaded store, while nothing else uses it. */
import { openPostgresStorage, type PostgresPlace } from '../../bench/lib/runs-places.ts'

import type { RunQuery } from '../../../packages/runs/src/ports/run-store.ts'

const LIMIT = 50

/** Filters of lists: all kinds, with many, few and no runs, and the 20th page. */
const FILTERS: readonly Partial<RunQuery>[] = [
  {},
  { statuses: ['FAILED'] },
  { statuses: ['COMPLETED'] },
  { statuses: ['RUNNING'] },
  { tag: { key: 'team', value: 't3' } },
  { tag: { key: 'team' } },
  { statuses: ['FAILED'], tag: { key: 'team', value: 't50' } },
  { ensemble: 'shop' },
  { text: 'no such text' },
  { text: 'report' },
  { offset: 19 * LIMIT },
]

/** Number of lists with each filter, after one that is not measured. */
const ROUNDS = 10

/** Returns the times of lists with any filter, in milliseconds. */
export async function measureLists(place: PostgresPlace): Promise<readonly number[]> {
  await using storage = await openPostgresStorage(place)
  const times: number[] = []
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const filter of FILTERS) {
      const askedAt = performance.now()
      await storage.runs.list({ limit: LIMIT, ...filter })
      if (round > 0) times.push(performance.now() - askedAt)
    }
  }
  return times
}
