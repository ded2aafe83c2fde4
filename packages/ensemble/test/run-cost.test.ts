/** Tests of the cost of a run without a server, in counts that do not depend on the machine. */
import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promiseHooks } from 'node:v8'

import { systemClock, type Clock } from '@tutti/core'
import { expect, it } from 'vitest'

import { ensemble, task, type Ensemble } from '../src/index.ts'
import { scriptedModel } from './testing.ts'

const FINISHED_RUNS = fileURLToPath(new URL('finished-runs.ts', import.meta.url))

interface Cost {
  /** Reads of the clock. */
  readonly reads: number
  readonly promises: number
}

/** Returns the cost of one run. */
async function measureRun(team: Ensemble): Promise<Cost> {
  let reads = 0
  let promises = 0
  const clock: Clock = {
    ...systemClock,
    now() {
      reads += 1
      return systemClock.now()
    },
    elapsed() {
      reads += 1
      return systemClock.elapsed()
    },
  }
  const stop = promiseHooks.onInit(() => {
    promises += 1
  })
  try {
    const { status } = await team.run({}, { clock, onEvent: () => undefined })
    expect(status).toBe('COMPLETED')
  } finally {
    stop()
  }
  return { reads, promises }
}

/** Returns the cost of each task after the first. */
async function measureTask(makeTeam: (tasks: number) => Ensemble): Promise<Cost> {
  const one = await measureRun(makeTeam(1))
  const eleven = await measureRun(makeTeam(11))
  return {
    reads: (eleven.reads - one.reads) / 10,
    promises: (eleven.promises - one.promises) / 10,
  }
}

function listNames(count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `task-${index}`)
}

it('A task of code reads the clock for its two events and its duration, and creates five promises', async () => {
  const cost = await measureTask((count) =>
    ensemble({
      name: 'code',
      tasks: listNames(count).map((name) =>
        task({ name, description: 'Count', handler: () => 'Counted' }),
      ),
    }),
  )
  expect(cost.reads).toBe(2 + 2)
  expect(cost.promises).toBeLessThanOrEqual(5)
})

it('A task of a model reads the clock for its events, its duration and its latency, and creates 19 promises', async () => {
  const cost = await measureTask((count) =>
    ensemble({
      name: 'models',
      model: scriptedModel(() => 'Counted'),
      tasks: listNames(count).map((name) => task({ name, description: 'Count' })),
    }),
  )
  // task_started, task_input, llm_iteration_started, token, llm_iteration_completed, task_completed
  expect(cost.reads).toBe(6 + 2 + 2)
  expect(cost.promises).toBeLessThanOrEqual(19)
})

it('A minor collection frees a finished run with a tool call', () => {
  const flags = ['--conditions=@tutti/source', '--expose-gc']
  const left = execFileSync(process.execPath, [...flags, FINISHED_RUNS], { encoding: 'utf8' })
  // What a collection keeps of a run; if it kept the whole run, that would be 11 kB.
  expect(Number(left)).toBeLessThan(1_000)
})
