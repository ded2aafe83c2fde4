/** Steps of the system clock while processes live. */
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

import { silentLogger } from '@tutti/core/internal'
import { fakeClock } from '@tutti/testing'
import { describe, expect, it } from 'vitest'

import { createSteadyClock } from '../src/domain/steady-clock.ts'
import { HOUSEKEEPING_MS } from '../src/lifecycle/delete-old-runs.ts'
import { openRuns, temporaryDirectory, waitingEnsemble } from './waiting-ensemble.ts'

const PROCESS = fileURLToPath(new URL('fixtures/stepped-process.ts', import.meta.url))
const CLOCK = new URL('../../../tooling/test-kit/step-clock.ts', import.meta.url).href

const HOUR_MS = 3_600_000

/** Lengths of the durations, in milliseconds: a longer one if the shorter one passed before the clock was set. */
const LENGTHS_MS = [1_500, 20_000] as const

/** Timers of Node and whole milliseconds of the store, in milliseconds. */
const ROUNDING_MS = 20

interface Measured {
  readonly name: string
  readonly tookMs: number
  readonly isSet: boolean
}

async function measure(lengthMs: number, stepMs: number): Promise<readonly Measured[]> {
  using directory = temporaryDirectory()
  const child = spawn(
    process.execPath,
    [
      '--conditions=@tutti/source',
      `--import=${CLOCK}`,
      PROCESS,
      directory.path,
      String(lengthMs),
      String(stepMs),
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  try {
    const measured: Measured[] = []
    for await (const line of createInterface(child.stdout)) {
      // NOTE: the process prints only these.
      measured.push(JSON.parse(line) as Measured)
    }
    return measured
  } finally {
    child.kill('SIGKILL')
  }
}

it('A process logs once that its clock was set', async () => {
  using directory = temporaryDirectory()
  const clock = fakeClock()
  let stepMs = 0
  const steady = createSteadyClock({ ...clock, now: () => clock.now() + stepMs }, clock.elapsed)
  const warnings: unknown[] = []
  const service = await openRuns(directory.path, [waitingEnsemble().ensemble], {
    clock: steady,
    logger: {
      ...silentLogger,
      warn: (...line) => {
        warnings.push(line)
      },
    },
  })
  await clock.advance(HOUSEKEEPING_MS)
  stepMs -= HOUR_MS
  await clock.advance(3 * HOUSEKEEPING_MS)
  expect(warnings).toEqual([
    [
      'The system clock was set; runs ignore it until this process restarts',
      { stepMs: -HOUR_MS, ignoredMs: -HOUR_MS },
    ],
  ])
  await service.close({ drainTimeoutMs: 0 })
})

describe('a step of the system clock', () => {
  it.each([
    ['back', -HOUR_MS],
    ['forward', HOUR_MS],
  ])(
    '[RUNS-TI1] An hour %s, while they wait, moves no deadline, lease, limit or retry of a process with the embedded store',
    { timeout: 180_000 },
    async (_, stepMs) => {
      let lengthMs: number = LENGTHS_MS[0]
      let measured = await measure(lengthMs, stepMs)
      if (measured.some(({ isSet }) => !isSet)) {
        lengthMs = LENGTHS_MS[1]
        measured = await measure(lengthMs, stepMs)
      }
      expect(measured.map(({ name }) => name).toSorted()).toEqual([
        'age of an external event',
        'lease',
        'maxDurationMs of a run',
        'maxQueueMs',
        'rate limit',
        'review',
        'review of a parked run',
        'sleep of a parked run',
        'startAfterMs',
        'tick of a schedule',
        'timeoutMs of a task',
        'webhook retry',
      ])
      for (const { tookMs, isSet } of measured) {
        expect(isSet).toBe(true)
        expect(tookMs).toBeGreaterThan(lengthMs - ROUNDING_MS)
        expect(tookMs).toBeLessThan(HOUR_MS / 60)
      }
    },
  )
})
