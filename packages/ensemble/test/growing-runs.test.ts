/** Tests of runs that grow: interrupted and drained at every write, forked after every event, and replayed. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'

import { growthOf, toGrowingScenario, type Growth } from './growing-runs.ts'
import {
  forkEverywhere,
  interruptEverywhere,
  replayEverywhere,
  runInProcesses,
  type ReplayScenarios,
} from './interrupt-everywhere.ts'
import { runToEnd, startRecorded } from './recorded-run.ts'
import { fakeClock } from './testing.ts'
import { eventsOf } from './watch-run.ts'

/** Seeds of the generated runs; two small ones by default. */
const COUNT = Number(process.env['TUTTI_GROWING_RUNS'] ?? 0)
const SEEDS = COUNT === 0 ? [4, 353] : Array.from({ length: COUNT }, (_, index) => index + 1)

/** A run with every kind of operation, at the same time and nested. */
const EVERY_OPERATION: Growth = {
  isConcurrent: true,
  operations: [
    { kind: 'step', ms: 12 },
    { kind: 'ask', ms: 1 },
    { kind: 'call', isOnce: false },
    { kind: 'map', items: [5, 1, 2], reaction: 'collect' },
    {
      kind: 'task',
      retries: 1,
      growth: {
        isConcurrent: false,
        operations: [
          { kind: 'step', ms: 2 },
          { kind: 'call', isOnce: true },
          { kind: 'agent', ms: 3 },
          { kind: 'map', items: [4], reaction: 'fail' },
        ],
      },
    },
  ],
}

/** A sub-ensemble in another one; the inner one is repeated. */
const ENSEMBLES: Growth = {
  isConcurrent: true,
  operations: [
    {
      kind: 'ensemble',
      retries: 0,
      workflow: 'PARALLEL',
      growth: {
        isConcurrent: false,
        operations: [
          {
            kind: 'ensemble',
            retries: 1,
            workflow: 'SEQUENTIAL',
            growth: { isConcurrent: false, operations: [{ kind: 'ask', ms: 1 }] },
          },
        ],
      },
    },
  ],
}

/** A loop over an ensemble with a judge, and a loop that a person ends. */
const LOOPS: Growth = {
  isConcurrent: false,
  operations: [
    { kind: 'loop', end: 'judge', growth: { isConcurrent: false, operations: [] } },
    { kind: 'loop', end: 'review', growth: { isConcurrent: false, operations: [] } },
  ],
}

/** Returns the scenario of a growth, and that of the same code with a change. */
function toReplays(growth: Growth): Required<ReplayScenarios> {
  return {
    same: toGrowingScenario(growth),
    changed: toGrowingScenario(growth, { isChanged: true }),
  }
}

beforeEach(() => {
  // The wait before a retry is the same in the run and in its forks.
  vi.spyOn(Math, 'random').mockReturnValue(0.5)
})

afterEach(() => {
  vi.restoreAllMocks()
})

describe('a run that grows', { timeout: 300_000 }, () => {
  it('[ENS-P1] [ENS-P3] [ENS-P27] [ENS-E16] [ENS-E17] A run that grows ends the same when it is interrupted or drained at any write', async () => {
    const { result, events } = await interruptEverywhere(toGrowingScenario(EVERY_OPERATION))
    expect(result.status).toBe('COMPLETED')
    expect(eventsOf(events, 'delegation_started').length).toBeGreaterThan(5)
    const undone = eventsOf(events, 'handler_step_ended').filter(
      (end) => end.isCompensation === true,
    )
    expect(undone.map(({ tries, willRetry }) => [tries, willRetry])).toEqual([
      [1, true],
      [2, undefined],
    ])
  })

  it('[ENS-P1] A fork after any event of a run that grows has the log of its parent', async () => {
    const { result } = await forkEverywhere(toGrowingScenario(EVERY_OPERATION))
    expect(result.status).toBe('COMPLETED')
  })

  it('[ENS-P14] [ENS-E16] [ENS-E17] A run with sub-ensembles ends the same when it is interrupted or drained at any write', async () => {
    const { result, events } = await interruptEverywhere(toGrowingScenario(ENSEMBLES))
    expect(result.status).toBe('COMPLETED')
    const added = eventsOf(events, 'delegation_started').map(({ workerTask }) => workerTask)
    expect(added).toContain('grow/nested-0/left/nested-0/join#2')
  })

  it('[ENS-P14] A fork after any event of a run with sub-ensembles has the log of its parent', async () => {
    const { result } = await forkEverywhere(toGrowingScenario(ENSEMBLES))
    expect(result.status).toBe('COMPLETED')
  })

  it('[ENS-P18] [ENS-P21] [ENS-E16] [ENS-E17] A run with loops ends the same when it is interrupted or drained at any write', async () => {
    const { result, events } = await interruptEverywhere(toGrowingScenario(LOOPS))
    expect(result.status).toBe('COMPLETED')
    const added = eventsOf(events, 'delegation_started').map(({ workerTask }) => workerTask)
    expect(added).toEqual(expect.arrayContaining(['grow/loop-0/judge-2', 'grow/loop-1/2']))
  })

  it('[ENS-P18] A fork after any event of a run with loops has the log of its parent', async () => {
    const { result } = await forkEverywhere(toGrowingScenario(LOOPS))
    expect(result.status).toBe('COMPLETED')
  })

  const REPLAYED = [
    ['with every operation', EVERY_OPERATION],
    ['with sub-ensembles', ENSEMBLES],
    ...SEEDS.map((seed) => [`of seed ${seed}`, growthOf(seed)] as const),
  ] as const

  it.each(REPLAYED)(
    '[ENS-E25] A frozen replay of a run that grows (%s) has its log, also when it is interrupted, and fails with other code',
    (_, growth) => replayEverywhere(toReplays(growth), 'frozen'),
  )

  it.each(REPLAYED)(
    '[ENS-P9] [ENS-E26] A replay with live models of a run that grows (%s) has its log, also when it is interrupted, and fails with other code',
    (_, growth) => replayEverywhere(toReplays(growth), 'models'),
  )

  it.each(REPLAYED)(
    '[ENS-P2] A run that grows (%s) fails with REPLAY_MISMATCH when changed code resumes it before its handler has ended',
    async (_, growth) => {
      const { same, changed } = toReplays(growth)
      const { steps } = await runInProcesses(same, [])
      const end = steps.findIndex(
        (step) => step.kind === 'handler_ended' && step.taskName === 'grow',
      )
      const clock = fakeClock()
      const calls: string[] = []
      const { team, options } = changed.open({
        clock,
        number: 2,
        world: { calls: [], asked: [], stored: new Map() },
        call: (name) => void calls.push(name),
      })
      const from = { events: [], steps: steps.slice(0, end) }
      const result = await runToEnd(startRecorded(team, { ...options, clock, from }))
      expect(result.error).toMatchObject({ code: 'REPLAY_MISMATCH', details: { taskName: 'grow' } })
      expect(calls).toEqual([])
    },
  )

  it.each(SEEDS)(
    '[ENS-P1] [ENS-E16] The generated growing run %i ends the same when it is interrupted, drained or forked anywhere',
    async (seed) => {
      const scenario = toGrowingScenario(growthOf(seed))
      await interruptEverywhere(scenario)
      await forkEverywhere(scenario)
    },
  )
})
