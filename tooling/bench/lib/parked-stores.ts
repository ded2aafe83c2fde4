/** The stores in which runs are parked, opened with a clock that can be ahead. */
import { connectClient } from '../../postgres/connect-client.ts'
import { systemClock, type Clock } from '@tutti/core'
import { ensemble, task } from '@tutti/ensemble'

import { builtPackage } from './built.ts'
import { openPostgresStorage, type PostgresLocation } from './runs-locations.ts'

import type { RunStorage } from '../../../packages/runs/src/adapter.ts'
import type { RunService } from '../../../packages/runs/src/index.ts'

type RunsDoor = typeof import('../../../packages/runs/src/index.ts')

/** Number of runs that a service executes at the same time. */
export const WIDTH = 50

/** Time for which runs sleep, in milliseconds: longer than filling the store takes. */
export const PARKED_MS = 24 * 3_600_000

/** A store to fill. */
export interface ParkedStore {
  readonly name: string
  open(clock: Clock): Promise<RunStorage>
  /** Makes the runs due that are due in {@link PARKED_MS}, for a store whose time is not that of the process. */
  passTime(): Promise<void>
}

/** Returns the embedded store of a directory, on the thread of its caller: another thread has the clock of the system. */
export function embeddedParkedStore(directory: string): ParkedStore {
  return {
    name: 'SQLite',
    async open(clock) {
      const { sqliteRunStorage } = await builtPackage<RunsDoor>('runs')
      return sqliteRunStorage(directory, { clock, synchronous: 'NORMAL', ownThread: false })
    },
    passTime: async () => undefined,
  }
}

/** Returns the store of a schema. The clock of the server cannot be ahead, so the times of the runs are moved. */
export function postgresParkedStore(location: PostgresLocation): ParkedStore {
  return {
    name: 'Postgres',
    open: () => openPostgresStorage(location),
    async passTime() {
      const client = await connectClient(location.connectionString)
      await client.query(
        `UPDATE ${location.schema}.runs SET due_at = due_at - $1 * interval '1 millisecond'
         WHERE state = 'parked'`,
        [PARKED_MS],
      )
      await client.query(`VACUUM ANALYZE ${location.schema}.runs`)
      await client.end()
    },
  }
}

const team = ensemble({
  name: 'parked',
  tasks: [
    task({
      name: 'wait',
      description: 'Wait {kind} {key}',
      async handler({ inputs, sleep: pause, waitFor }) {
        if (inputs['kind'] === 'sleep') await pause(PARKED_MS)
        if (inputs['kind'] === 'event') await waitFor('payment', { key: inputs['key'] ?? '' })
        return 'done'
      },
    }),
  ],
})

/** A service over a store. */
export interface Opened extends AsyncDisposable {
  readonly service: RunService
  readonly storage: RunStorage
}

/** Starts a service whose clock is ahead by so many milliseconds. */
export async function openParkedService(store: ParkedStore, aheadMs = 0): Promise<Opened> {
  const { createRunService } = await builtPackage<RunsDoor>('runs')
  const clock = { ...systemClock, now: () => systemClock.now() + aheadMs }
  const storage = await store.open(clock)
  const service = createRunService(storage, [team], {
    clock,
    maxConcurrentRuns: WIDTH,
    maxQueuedRuns: 1_000_000,
  })
  await service.start()
  return { service, storage, [Symbol.asyncDispose]: () => service.close({ drainTimeoutMs: 0 }) }
}
