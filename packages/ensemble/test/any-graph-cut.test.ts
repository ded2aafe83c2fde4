/** Laws of every graph of tasks, with any work, any moment of a cancel and any interruption. */
import { sleep } from '@tutti/core/internal'
import { describe, expect, it } from 'vitest'

import { ensemble, task, type EnsembleDefinition, type Task } from '../src/index.ts'
import {
  runInProcesses,
  type Process,
  type Scenario,
  type ScenarioEnd,
} from './interrupt-everywhere.ts'
import { createTaskFailure, createThinker } from './scenario-parts.ts'
import {
  computeExpectedPhases,
  createRandomGraph,
  createRandom,
  type GraphTask,
} from './task-graphs.ts'
import { readPhasesAfter } from './task-phases.ts'
import { eventsOf } from './watch-run.ts'

const SEEDS = Array.from({ length: 80 }, (_, index) => index + 1)

/**
 * Creates a task with an agent or a handler. Every second task has a retry; of the handlers, those with a
 * retry fail first.
 */
function toTask(process: Process, { name, context, ms, fails }: GraphTask): Task {
  const index = Number(name.slice(1))
  const retries = index % 2
  const common = { name, description: `Do ${name}`, context, retries }
  if (index % 3 > 0) {
    const answer = () => (fails ? createTaskFailure(`${name} broke`) : `${name} done`)
    return task({ ...common, model: createThinker(process, answer, { ms }) })
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
  readonly commands?: NonNullable<Scenario['commands']>
}

/** Runs the graph in up to four processes and checks the laws of every run. */
async function runGraph({ seed, settings, graph, commands = [] }: Law): Promise<ScenarioEnd> {
  const random = createRandom(seed + 500)
  const sizes = Array.from({ length: seed % 4 }, () => 1 + Math.floor(random() * graph.length * 5))
  const end = await runInProcesses(
    {
      commands,
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

function createGraph(seed: number): readonly GraphTask[] {
  return createRandomGraph(createRandom(seed), { maxTasks: 7, failing: 0.25 })
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

describe(
  '[ENS-E2] [ENS-E16] a graph that is interrupted up to three times',
  { timeout: 300_000 },
  () => {
    it('[ENS-W6] A graph that is interrupted up to three times with CONTINUE_ON_ERROR ends each task as its own work and its context determine', () =>
      forEachSeed(async (seed) => {
        const graph = createGraph(seed)
        const settings = {
          workflow: 'PARALLEL',
          errorStrategy: 'CONTINUE_ON_ERROR',
          maxConcurrentTasks: 1 + (seed % 5),
        } as const
        const { events, result } = await runGraph({ seed, settings, graph })
        const expected = computeExpectedPhases(graph)
        expect(readPhasesAfter(events)).toEqual(expected)
        const broken = [...expected.values()].some((phase) => phase !== 'completed')
        expect(result.status).toBe(broken ? 'FAILED' : 'COMPLETED')
      }))

    it('[ENS-W1] [ENS-W6] A graph that is interrupted up to three times with SEQUENTIAL and CONTINUE_ON_ERROR ends the same, one task at a time', () =>
      forEachSeed(async (seed) => {
        const graph = createGraph(seed).toSorted((a, b) => a.name.localeCompare(b.name))
        const settings = { workflow: 'SEQUENTIAL', errorStrategy: 'CONTINUE_ON_ERROR' } as const
        const { events } = await runGraph({ seed, settings, graph })
        expect(readPhasesAfter(events)).toEqual(computeExpectedPhases(graph))
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

    it('[ENS-E3] A graph that is interrupted up to three times with FAIL_FAST begins nothing after a final failure', () =>
      forEachSeed(async (seed) => {
        const graph = createGraph(seed)
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
      '[ENS-E4] [ENS-S1] A graph that is interrupted up to three times begins nothing after a cancel in mode %s',
      (mode) =>
        forEachSeed(async (seed) => {
          const graph = createGraph(seed)
          const { events, result } = await runGraph({
            seed,
            settings: { workflow: 'PARALLEL', errorStrategy: 'CONTINUE_ON_ERROR' },
            graph,
            commands: [
              {
                when: (event) => event.type === 'task_started' && event.taskName === `t${seed % 4}`,
                send: (handle) => handle.cancel({ mode }),
                isRecorded: (step) => step.kind === 'cancel_asked',
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
  },
)
