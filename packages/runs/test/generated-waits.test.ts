/** Tests of generated races for waits: events, timers, people, cancels, forks and dying processes. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

import { postgresRunStorage } from '@tutti/runs/postgres'
import { describe, expect, it } from 'vitest'

import { testDatabase } from '../../../tooling/postgres/test-database.ts'
import { createRandom } from '../../ensemble/test/task-graphs.ts'
import { STORES } from './stores.ts'
import { WaitRace } from './wait-races.ts'

/** Seeds from 1, or the seeds from `FROM:TO`; by default three. */
const [LAST = 3, FIRST = 1] = (process.env['TUTTI_GENERATED_WAITS'] ?? '3')
  .split(':')
  .map(Number)
  .toReversed()

const SEEDS = Array.from({ length: LAST - FIRST + 1 }, (_, index) => FIRST + index)

/** Number of processes on a store. */
const PROCESSES = { embedded: 1, postgres: 2 } as const

const LONG = { timeout: 300_000 }

describe.each(['embedded', 'postgres'] as const)('a generated race (%s)', LONG, (kind) => {
  it.each(SEEDS)(
    '[RUNS-EV3] [RUNS-EV9] [RUNS-E9] The race for waits of seed %i has one winner for each wait, and loses no event',
    async (seed) => {
      await using place = await STORES[kind]()
      await new WaitRace(place, seed).run(PROCESSES[kind])
    },
  )
})

describe('a generated race whose runs execute in processes that are killed', LONG, () => {
  /** The real processes take seconds to start. */
  const seeds = process.env['TUTTI_GENERATED_WAITS'] === undefined ? [1] : SEEDS

  it.each(seeds)(
    '[RUNS-EV9] The race for waits of seed %i loses no event when its processes are killed',
    async (seed) => {
      await using database = await testDatabase()
      const { url } = database
      await using workers = killedWorkers(url, seed)
      const open = () => postgresRunStorage({ connectionString: url, maxConnections: 4 })
      const place = { open, [Symbol.asyncDispose]: () => Promise.resolve() }
      await new WaitRace(place, seed, { executes: false }).run(1)
      expect(workers.deaths).toBeGreaterThan(0)
    },
  )
})

/** Processes that execute runs, one after the other. */
interface KilledWorkers extends AsyncDisposable {
  /** Number of processes that have killed themselves. */
  readonly deaths: number
}

/** Starts a process that executes runs, and the next one whenever it has killed itself. The second or third one lives. */
function killedWorkers(url: string, seed: number): KilledWorkers {
  const file = fileURLToPath(new URL('fixtures/racing-process.ts', import.meta.url))
  const random = createRandom(seed)
  let deaths = 0
  let end: (() => void) | undefined
  const work = async (): Promise<void> => {
    for (let isStopped = false; !isStopped;) {
      const write = deaths <= seed % 2 ? 3 + Math.floor(random() * 25) : 0
      const when = random() < 0.5 ? 'before' : 'after'
      const child = spawn(
        process.execPath,
        ['--conditions=@tutti/source', file, url, String(write), when],
        { stdio: ['ignore', 'ignore', 'inherit'] },
      )
      end = () => {
        isStopped = true
        child.kill('SIGKILL')
      }
      const [, signal] = (await once(child, 'exit')) as [number | null, string | null]
      expect(signal).toBe('SIGKILL')
      if (!isStopped) deaths += 1
    }
  }
  const working = work()
  working.catch(() => undefined)
  return {
    get deaths() {
      return deaths
    },
    async [Symbol.asyncDispose]() {
      end?.()
      await working
    },
  }
}
