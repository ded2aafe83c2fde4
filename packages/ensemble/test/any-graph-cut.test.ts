/** Laws of every graph of tasks, whatever its tasks do, whenever it is cancelled, wherever it is cut off. */
import { sleep } from '@tutti/core'
import { describe, expect, it } from 'vitest'

import { ensemble, task, type EnsembleDefinition, type Task } from '../src/index.ts'
import { runInPieces, type Process, type Scenario, type ScenarioEnd } from './cut-everywhere.ts'
import { passing, thinker } from './scenario-parts.ts'
import { expectedPhases, randomGraph, randomNumbers, type GraphTask } from './task-graphs.ts'
import { phasesAfter } from './task-phases.ts'
import { eventsOf } from './watch-run.ts'

const SEEDS = Array.from({ length: 80 }, (_, index) => index + 1)

/** Tasks of agents and of handlers; every other one is tried again, one in three only works then. */
function toTask(process: Process, { name, context, ms, fails }: GraphTask): Task {
  const index = Number(name.slice(1))
  const retries = index % 2
  const common = { name, description: `Do ${name}`, context, retries }
  if (index % 3 > 0) {
    const answer = () => (fails ? passing(`${name} broke`) : `${name} done`)
    return task({ ...common, model: thinker(process, answer, { ms }) })
  }
  return task({
    ...common,
    async handler({ attempt, idempotencyKey, signal }) {
      process.call(name, idempotencyKey)
      await sleep(process.clock, ms, signal)
      signal.throwIfAborted()
      if (fails || attempt <= retries) throw new Error(`${name} broke`)
      return `${name} done`
    },
  })
}

interface Law {
  readonly seed: number
  readonly settings: Partial<EnsembleDefinition>
  readonly graph: readonly GraphTask[]
  readonly wishes?: NonNullable<Scenario['wishes']>
}

/** Runs the graph in up to four pieces, and checks what holds for every run. */
async function runGraph({ seed, settings, graph, wishes = [] }: Law): Promise<ScenarioEnd> {
  const random = randomNumbers(seed + 500)
  const sizes = Array.from({ length: seed % 4 }, () => 1 + Math.floor(random() * graph.length * 5))
  const end = await runInPieces(
    {
      wishes,
      open: (process) => ({
        team: ensemble({
          name: 'graph',
          modelRetries: 0,
          ...settings,
          tasks: graph.map((one) => toTask(process, one)),
        }),
      }),
    },
    sizes,
  )
  const completed = new Set<string>()
  for (const event of end.events) {
    if (event.type === 'task_completed') completed.add(event.taskName)
    if (event.type !== 'task_started') continue
    const context = graph.find(({ name }) => name === event.taskName)?.context ?? []
    expect(context.filter((name) => !completed.has(name))).toEqual([])
  }
  const attempts = eventsOf(end.events, 'task_started').map(
    ({ taskName, attempt }) => `${taskName}/${attempt}`,
  )
  expect(new Set(attempts).size).toBe(attempts.length)
  expect(eventsOf(end.events, 'run_result')).toHaveLength(1)
  expect(end.events.at(-1)?.type).toBe('run_result')
  return end
}

function graphOf(seed: number): readonly GraphTask[] {
  return randomGraph(randomNumbers(seed), { maxTasks: 7, failing: 0.25 })
}

async function forEachSeed(law: (seed: number) => Promise<void>): Promise<void> {
  await Promise.all(
    SEEDS.map((seed) =>
      law(seed).catch((error: unknown) => {
        throw new Error(`Seed ${seed}: ${String(error)}`, { cause: error })
      }),
    ),
  )
}

describe('[ENS-E2] [ENS-E16] any graph, cut off up to three times', { timeout: 60_000 }, () => {
  it('[ENS-W6] CONTINUE_ON_ERROR: each task ends as its own work and its context say', () =>
    forEachSeed(async (seed) => {
      const graph = graphOf(seed)
      const settings = {
        workflow: 'PARALLEL',
        errorStrategy: 'CONTINUE_ON_ERROR',
        maxConcurrentTasks: 1 + (seed % 5),
      } as const
      const { events, result } = await runGraph({ seed, settings, graph })
      const expected = expectedPhases(graph)
      expect(phasesAfter(events)).toEqual(expected)
      const broken = [...expected.values()].some((phase) => phase !== 'completed')
      expect(result.status).toBe(broken ? 'FAILED' : 'COMPLETED')
    }))

  it('[ENS-W1] [ENS-W6] SEQUENTIAL with CONTINUE_ON_ERROR: the same, one after the other', () =>
    forEachSeed(async (seed) => {
      const graph = graphOf(seed).toSorted((a, b) => a.name.localeCompare(b.name))
      const settings = { workflow: 'SEQUENTIAL', errorStrategy: 'CONTINUE_ON_ERROR' } as const
      const { events } = await runGraph({ seed, settings, graph })
      expect(phasesAfter(events)).toEqual(expectedPhases(graph))
      let running: string | undefined
      const order: string[] = []
      for (const event of events) {
        if (event.type === 'task_started') {
          expect(running ?? event.taskName).toBe(event.taskName)
          running = event.taskName
          if (event.attempt === 1) order.push(event.taskName)
        }
        const isOver = event.type === 'task_failed' || event.type === 'task_completed'
        if (isOver) running = undefined
      }
      expect(order).toEqual(order.toSorted((a, b) => a.localeCompare(b)))
    }))

  it('[ENS-E3] FAIL_FAST: nothing begins after a failure that stays', () =>
    forEachSeed(async (seed) => {
      const graph = graphOf(seed)
      const { events, result } = await runGraph({
        seed,
        settings: { workflow: 'PARALLEL', maxConcurrentTasks: 1 + (seed % 5) },
        graph,
      })
      const failure = events.findIndex((event) => event.type === 'task_failed')
      expect(result.status).toBe(failure === -1 ? 'COMPLETED' : 'FAILED')
      const begins = events.findLastIndex(
        (event) => event.type === 'task_started' && event.attempt === 1,
      )
      if (failure !== -1) expect(begins).toBeLessThan(failure)
    }))

  it.each(['abort', 'boundary'] as const)(
    '[ENS-E4] [ENS-S1] a cancel in mode %s: nothing begins after it',
    (mode) =>
      forEachSeed(async (seed) => {
        const graph = graphOf(seed)
        const { events, result } = await runGraph({
          seed,
          settings: { workflow: 'PARALLEL', errorStrategy: 'CONTINUE_ON_ERROR' },
          graph,
          wishes: [
            {
              when: (event) => event.type === 'task_started' && event.taskName === `t${seed % 4}`,
              ask: (handle) => handle.cancel({ mode }),
              isKept: (step) => step.kind === 'cancel_asked',
            },
          ],
        })
        const asked = events.findIndex(({ type }) => type === 'run_cancelling')
        if (asked === -1) return
        const after = events.slice(asked)
        expect(eventsOf(after, 'task_started').filter(({ attempt }) => attempt === 1)).toEqual([])
        const cut = eventsOf(after, 'task_failed').filter(({ code }) => code === 'CANCELLED')
        if (mode === 'boundary') expect(cut).toEqual([])
        if (cut.length > 0 || eventsOf(after, 'task_skipped').length > 0) {
          expect(result.status).toBe('CANCELLED')
        }
      }),
  )
})
