/** Steps of the clock of Postgres while processes live. */
import { ensemble, task } from '@tutti/ensemble'
import { createRunService } from '@tutti/runs'
import { postgresRunStorage } from '@tutti/runs/postgres'
import { describe, expect, it } from 'vitest'

import { query } from '../../../tooling/postgres/cluster.ts'
import { hasSteppedServer, steppedServer } from '../../../tooling/postgres/stepped-server.ts'
import { until } from '../../../tooling/test-kit/wait.ts'
import { CLOCK_SQL } from '../src/stores/postgres/database/database-clock.ts'

const HOUR_MS = 3_600_000

/** Much shorter than the step. A process that has lost its lease learns it with its next renewal, after a third of this. */
const LEASE_MS = 15_000

async function openDatabase() {
  const server = await steppedServer()
  return {
    ...server,
    openStorage: () => postgresRunStorage({ connectionString: server.url, maxConnections: 3 }),
    async readClock(): Promise<number> {
      const [row] = await query(server.url, CLOCK_SQL)
      return Number(row?.['now'])
    },
  }
}

describe.skipIf(!hasSteppedServer())('a step of the clock of Postgres', () => {
  it('[RUNS-TI6] Processes follow a step of the database, so that start times are right after it', async () => {
    await using database = await openDatabase()
    const write = task({ name: 'write', description: 'Write', handler: () => 'written' })
    const service = createRunService(
      await database.openStorage(),
      [ensemble({ name: 'band', tasks: [write] })],
      { executes: false },
    )
    await service.start()
    for (const aheadMs of [HOUR_MS, -HOUR_MS]) {
      database.setClock(aheadMs)
      // An idle process reads the clock every two minutes, and when it has connected again.
      await query(
        database.url,
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE '%LISTEN%' AND pid <> pg_backend_pid()",
      )
      await until('the process to follow the clock', async () => {
        const differenceMs = service.clock.now() - (await database.readClock())
        return Math.abs(differenceMs) < HOUR_MS / 4
      })
      const { startAt = 0 } = await service.submit({ startAfterMs: HOUR_MS })
      const differenceMs = startAt - HOUR_MS - (await database.readClock())
      expect(Math.abs(differenceMs)).toBeLessThan(HOUR_MS / 4)
    }
    await service.close({ drainTimeoutMs: 0 })
  })

  it('A step forward ends the leases of living processes: their runs continue once more, and earlier owners stop', async () => {
    await using database = await openDatabase()
    const signals: AbortSignal[] = []
    const work = task({
      name: 'work',
      description: 'Work',
      async handler({ signal }) {
        signals.push(signal)
        if (signals.length > 1) return 'worked'
        return new Promise<string>((_, reject) => {
          signal.addEventListener('abort', () => reject(new Error('stopped')))
        })
      },
    })
    const open = async () => {
      const options = { leaseMs: LEASE_MS, pollMs: 100 }
      const bands = [ensemble({ name: 'band', tasks: [work] })]
      const service = createRunService(await database.openStorage(), bands, options)
      await service.start()
      return service
    }
    const first = await open()
    const { runId } = await first.submit({})
    await until('the run to begin', () => signals.length === 1)
    const second = await open()
    database.setClock(HOUR_MS)
    await until(
      'the end of the run',
      async () => (await second.record(runId))?.status === 'COMPLETED',
    )
    await until('the first execution to stop', () => signals[0]?.aborted === true)
    expect(signals).toHaveLength(2)
    const events = await second.readEvents({ runId, from: 0, limit: 1_000 })
    expect(events.filter(({ type }) => type === 'run_result')).toHaveLength(1)
    await Promise.all([first, second].map((service) => service.close({ drainTimeoutMs: 0 })))
  })

  it('After a step back, a run that was ready before starts when the clock has caught up, and a later one at once', async () => {
    await using database = await openDatabase()
    const begun: string[] = []
    const write = task({
      name: 'write',
      description: 'Write',
      handler({ runId }) {
        begun.push(runId)
        return 'written'
      },
    })
    const bands = [ensemble({ name: 'band', tasks: [write] })]
    const api = createRunService(await database.openStorage(), bands, { executes: false })
    await api.start()
    await api.submit({ runId: 'run-before' })
    database.setClock(-HOUR_MS)
    await api.submit({ runId: 'run-after' })
    const worker = createRunService(await database.openStorage(), bands, { pollMs: 100 })
    await worker.start()
    await until('a run to begin', () => begun.length > 0)
    await until(
      'the end of the run',
      async () => (await api.record('run-after'))?.status === 'COMPLETED',
    )
    expect(begun).toEqual(['run-after'])
    database.setClock(0)
    await api.submit({ runId: 'run-last' })
    await until('the other runs to begin', () => begun.length === 3)
    expect(begun.toSorted()).toEqual(['run-after', 'run-before', 'run-last'])
    await Promise.all([api, worker].map((service) => service.close({ drainTimeoutMs: 0 })))
  })
})
