/** Tests of generated plans with every construct: interrupted and drained, forked, and replayed. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'

import { CONSTRUCTS, listKinds, planOf, toPlanScenario } from './generated-plans.ts'
import { forkEverywhere, interruptEverywhere, replayEverywhere } from './interrupt-everywhere.ts'
import { eventsOf } from './watch-run.ts'

/**
 * Seeds from 1, or the seeds from `FROM:TO`; by default two with every construct, whose handoffs end in every way, also in a loop
 * and for items.
 */
const [LAST, FIRST = 1] = (process.env['TUTTI_GENERATED_PLANS'] ?? '0')
  .split(':')
  .map(Number)
  .toReversed()
const SEEDS =
  LAST === 0 || LAST === undefined
    ? [258, 59]
    : Array.from({ length: LAST - FIRST + 1 }, (_, index) => FIRST + index)

/** Number of writes between two cuts; 1 takes the longest. */
const STEP = Number(process.env['TUTTI_PLAN_STEP'] ?? 9)

beforeEach(() => {
  // The wait before a retry is the same in the run and in its forks.
  vi.spyOn(Math, 'random').mockReturnValue(0.5)
})

afterEach(() => {
  vi.restoreAllMocks()
})

describe('a generated plan', { timeout: 600_000 }, () => {
  it('The first 40 plans have every construct', () => {
    const kinds = new Set(Array.from({ length: 40 }, (_, seed) => listKinds(planOf(seed))).flat())
    expect([...kinds].toSorted()).toEqual([...CONSTRUCTS, 'broken'].toSorted())
  })

  it.each(SEEDS)(
    '[ENS-P1] [ENS-X5] [ENS-X7] [ENS-E16] [ENS-E17] The plan of seed %i ends each task as the rule says, also when it is interrupted or drained',
    async (seed) => {
      const cuts = { step: STEP, first: seed % STEP }
      const { events } = await interruptEverywhere(toPlanScenario(planOf(seed)), cuts)
      expect(eventsOf(events, 'task_started').length).toBeGreaterThan(0)
      if (process.env['TUTTI_GENERATED_PLANS'] !== undefined)
        process.stdout.write(`seed ${seed}: ${events.length} events\n`)
    },
  )

  it.each(SEEDS)(
    '[ENS-P1] [ENS-X7] [ENS-G19] A fork of the plan of seed %i has the log of its parent, also with open and ended waits',
    async (seed) => {
      const cuts = { step: STEP, first: seed % STEP }
      await forkEverywhere(toPlanScenario(planOf(seed)), cuts)
    },
  )

  it.each(SEEDS)('[ENS-E25] A frozen replay of the plan of seed %i has its log', (seed) =>
    replayEverywhere({ same: toPlanScenario(planOf(seed)) }, 'frozen'),
  )
})
