/** Tests of generated races for waits: events, timers, people, cancels, forks and dying processes. */
import { describe, it } from 'vitest'

import { STORES } from './stores.ts'
import { createRace, WaitRace } from './wait-races.ts'

/** Seeds from 1, or the seeds from `FROM:TO`; by default three. */
const [LAST = 3, FIRST = 1] = (process.env['TUTTI_GENERATED_WAITS'] ?? '3')
  .split(':')
  .map(Number)
  .toReversed()

const SEEDS = Array.from({ length: LAST - FIRST + 1 }, (_, index) => FIRST + index)

/** Number of processes on a store. */
const PROCESSES = { embedded: 1, postgres: 2 } as const

describe.each(['embedded', 'postgres'] as const)('a generated race (%s)', (kind) => {
  it.each(SEEDS)(
    '[RUNS-EV3] [RUNS-EV9] The race for waits of seed %i has one winner for each wait, and loses no event',
    async (seed) => {
      await using place = await STORES[kind]()
      await new WaitRace(place, seed, {}).run(PROCESSES[kind])
    },
    300_000,
  )
})
