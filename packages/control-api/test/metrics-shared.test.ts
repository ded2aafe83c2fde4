import { postgresRunStorage } from '@tutti/runs/postgres'
import { expect, it } from 'vitest'

import { testServer } from '../../../tooling/postgres/test-database.ts'
import { openMeteredServer } from './metered-server.ts'

import type { RunStorage } from '@tutti/runs/adapter'

const LEASE_MS = 1_000

it('The metrics report a lost lease, a run that was taken over, and a lost store', async () => {
  await using database = await testServer()
  const storage = () => postgresRunStorage({ connectionString: database.url, maxConnections: 4 })
  await using first = await openMeteredServer({
    storage: await storage(),
    limits: { leaseMs: LEASE_MS },
  })
  const runId = await first.submit('waiting')
  await until(first, 'tutti_run_claims_total', { kind: 'first' })
  await until(first, 'tutti_leases_held')
  const before = await first.scrape()
  expect(before.value('tutti_run_releases_total', { end: 'lost' })).toBe(0)
  expect(before.value('tutti_lease_renewals_total', { outcome: 'renewed' })).toBeGreaterThan(0)
  expect(before.value('tutti_lease_renewals_total', { outcome: 'failed' })).toBe(0)

  await using another = await storage()
  await loseLease(another, runId)
  await until(first, 'tutti_run_releases_total', { end: 'lost' })
  await until(first, 'tutti_run_claims_total', { kind: 'taken_over' })
  first.play()
  await first.ended(runId)
  await until(first, 'tutti_run_releases_total', { end: 'ended' })
  const after = await first.scrape()
  const labels = { ensemble: 'waiting', status: 'COMPLETED', code: 'none' }
  expect(after.value('tutti_runs_ended_total', labels)).toBe(1)
  expect(after.value('tutti_run_releases_total', { end: 'lost' })).toBe(1)
  expect(after.value('tutti_run_claims_total', { kind: 'taken_over' })).toBe(1)
  expect(after.value('tutti_store_available')).toBe(1)

  await database.stop()
  await until(first, 'tutti_lease_renewals_total', { outcome: 'failed' })
  const away = await first.scrape()
  expect(away.value('tutti_store_available')).toBe(0)
  // The cluster-wide metrics are unknown, which is not 0.
  expect(away.families.get('tutti_queue_depth')?.samples).toEqual([])
  expect(away.families.get('tutti_runs')?.samples).toEqual([])
  const errors = away.families.get('tutti_store_errors_total')?.samples ?? []
  expect(new Set(errors.map(({ labels: { code } }) => code))).toEqual(
    new Set(['STORE_UNAVAILABLE']),
  )
  await database.start()
  await until(first, 'tutti_store_available')
  expect((await first.scrape()).value('tutti_queue_depth')).toBe(0)
})

/** Takes over a run, like another process that finds its lease expired. */
async function loseLease(another: RunStorage, runId: string): Promise<void> {
  expect(await another.queue.reclaimAll()).toEqual([runId])
}

/** Resolves when a series exists and is above 0; each check is a request. */
async function until(
  api: Awaited<ReturnType<typeof openMeteredServer>>,
  ...[name, labels]: [name: string, labels?: Readonly<Record<string, string>>]
): Promise<void> {
  let found: number
  do {
    found = (await api.scrape()).value(name, labels)
  } while (!(found > 0))
}
