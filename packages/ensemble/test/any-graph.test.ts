/** Laws that hold for every graph of tasks, tried on graphs made from seeds; a failure names its seed. */
import { describe, expect, it } from 'vitest'

import { ensemble, type EnsembleDefinition, type RunResult } from '../src/index.ts'
import {
  expectedPhases,
  finishTimes,
  randomGraph,
  randomNumbers,
  toTasks,
  type GraphTask,
} from './task-graphs.ts'
import { phasesAfter } from './task-phases.ts'
import { fakeClock } from './testing.ts'
import { eventsOf, namesOf, watchRun } from './watch-run.ts'

import type { TimedModel } from './timed-model.ts'
import type { RunEvent } from '@tutti/protocol'

/** Tries a law on that many graphs, all at once: each has a clock of its own. */
async function tryOn(count: number, law: (seed: number) => Promise<void>): Promise<void> {
  const seeds = Array.from({ length: count }, (_, index) => index + 1)
  await Promise.all(
    seeds.map((seed) =>
      law(seed).catch((error: unknown) => {
        throw new Error(`Seed ${seed}: ${String(error)}`, { cause: error })
      }),
    ),
  )
}

interface GraphRun {
  readonly graph: readonly GraphTask[]
  readonly events: readonly RunEvent[]
  readonly result: RunResult
  readonly models: ReadonlyMap<string, TimedModel>
}

interface GraphRunSettings extends Partial<EnsembleDefinition> {
  /** When the run is cancelled, in milliseconds from its start. */
  readonly cancelAt?: number
}

/** Runs a graph on a clock of its own and checks what holds for every run. */
async function runGraph(
  graph: readonly GraphTask[],
  { cancelAt, ...settings }: GraphRunSettings = {},
): Promise<GraphRun> {
  const clock = fakeClock()
  const controller = new AbortController()
  const { tasks, models } = toTasks(graph, clock)
  const team = ensemble({
    name: 'team',
    tasks,
    workflow: 'PARALLEL',
    maxConcurrentTasks: graph.length,
    ...settings,
  })
  const run = watchRun(team, { clock, signal: controller.signal })
  if (cancelAt !== undefined) {
    clock.after(cancelAt, () => {
      controller.abort()
    })
  }
  await clock.advance(1_000_000)
  const result = await run.ended
  expect(clock.pending).toBe(0)
  expectEachTaskAtMostOnce(graph, run.events, models)
  return { graph, events: run.events, result, models }
}

/** At most once, and never before what it waits for is completed. */
function expectEachTaskAtMostOnce(
  graph: readonly GraphTask[],
  events: readonly RunEvent[],
  models: ReadonlyMap<string, TimedModel>,
): void {
  const completed = new Set<string>()
  const started = new Set<string>()
  for (const event of events) {
    if (event.type === 'task_started') {
      expect(started).not.toContain(event.taskName)
      started.add(event.taskName)
      const context = graph.find(({ name }) => name === event.taskName)?.context ?? []
      expect(context.filter((name) => !completed.has(name))).toEqual([])
    }
    if (event.type === 'task_completed') completed.add(event.taskName)
  }
  for (const [name, { requests }] of models) {
    expect(requests).toHaveLength(started.has(name) ? 1 : 0)
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}

/** The most tasks that ran at the same time. */
function mostRunning(events: readonly RunEvent[]): number {
  let running = 0
  let most = 0
  for (const { type } of events) {
    if (type === 'task_started') running += 1
    if (/^task_(?:completed|attempt_failed|failed)$/.test(type)) running -= 1
    most = Math.max(most, running)
  }
  return most
}

function graphOf(seed: number, failing: number): readonly GraphTask[] {
  return randomGraph(randomNumbers(seed), { maxTasks: 9, failing })
}

describe('any graph in which nothing fails', () => {
  it('[ENS-E2] takes as long as its critical path', () =>
    tryOn(300, async (seed) => {
      const graph = graphOf(seed, 0)
      const { result, events } = await runGraph(graph)
      const times = finishTimes(graph)
      expect(result).toMatchObject({
        status: 'COMPLETED',
        durationMs: Math.max(...times.values()),
        output: `${graph.at(-1)?.name} done`,
      })
      const begin = Date.parse(eventsOf(events, 'ensemble_started')[0]?.startedAt ?? '')
      const ends = eventsOf(events, 'task_completed').map(
        ({ taskName, completedAt }) => [taskName, Date.parse(completedAt) - begin] as const,
      )
      expect(new Map(ends)).toEqual(times)
    }))

  it('[ENS-W4] keeps within its slots, and idles in none', () =>
    tryOn(300, async (seed) => {
      const graph = graphOf(seed, 0)
      const slots = 1 + (seed % 3)
      const { result, events } = await runGraph(graph, { maxConcurrentTasks: slots })
      expect(result.status).toBe('COMPLETED')
      expect(mostRunning(events)).toBeLessThanOrEqual(slots)
      // Graham's bound: no schedule that leaves no slot idle while a task is ready takes longer.
      const critical = Math.max(...finishTimes(graph).values())
      const work = sum(graph.map(({ ms }) => ms))
      expect(result.durationMs).toBeLessThanOrEqual((work - critical) / slots + critical)
      expect(result.durationMs).toBeGreaterThanOrEqual(Math.max(critical, work / slots))
    }))

  it('[ENS-W1] one by one in SEQUENTIAL', () =>
    tryOn(300, async (seed) => {
      const graph = graphOf(seed, 0).map((task) => ({ ...task, context: [] }))
      const { result, events } = await runGraph(graph, { workflow: 'SEQUENTIAL' })
      expect(result.durationMs).toBe(sum(graph.map(({ ms }) => ms)))
      expect(eventsOf(events, 'task_started').map(({ taskName }) => taskName)).toEqual(
        graph.map(({ name }) => name),
      )
    }))
})

describe('any graph in which tasks fail', () => {
  it('[ENS-E3] FAIL_FAST starts nothing after a failure', () =>
    tryOn(300, async (seed) => {
      const graph = graphOf(seed, 0.3)
      const { result, events } = await runGraph(graph, { maxConcurrentTasks: 1 + (seed % 4) })
      const types = events.map(({ type }) => type)
      const failure = types.indexOf('task_failed')
      expect(result.status).toBe(failure === -1 ? 'COMPLETED' : 'FAILED')
      if (failure === -1) return
      expect(types.lastIndexOf('task_started')).toBeLessThan(failure)
      expect(result.error?.message).toBe(eventsOf(events, 'task_failed')[0]?.reason)
    }))

  it('[ENS-W6] CONTINUE_ON_ERROR runs all that does not need a failed one', () =>
    tryOn(300, async (seed) => {
      const graph = graphOf(seed, 0.3)
      const settings = {
        errorStrategy: 'CONTINUE_ON_ERROR',
        maxConcurrentTasks: 1 + (seed % 4),
      } as const
      const { result, events } = await runGraph(graph, settings)
      const expected = expectedPhases(graph)
      expect(phasesAfter(events)).toEqual(expected)
      const broken = [...expected.values()].some((phase) => phase !== 'completed')
      expect(result.status).toBe(broken ? 'FAILED' : 'COMPLETED')
    }))
})

describe('any graph that is cancelled', () => {
  it('[ENS-E4] stops at once and keeps what is done', () =>
    tryOn(300, async (seed) => {
      const graph = graphOf(seed, 0)
      const times = finishTimes(graph)
      const makespan = Math.max(...times.values())
      // Between two milliseconds, so that no task ends in the very moment of the cancel.
      const cancelAt = Math.floor(randomNumbers(seed + 10_000)() * makespan * 1.2) + 0.5
      const { result, events } = await runGraph(graph, { cancelAt })
      const done = graph.map(({ name }) => name).filter((name) => (times.get(name) ?? 0) < cancelAt)
      expect(namesOf(phasesAfter(events), 'completed').toSorted()).toEqual(done.toSorted())
      expect(result.tasks.map(({ output }) => output)).toEqual(done.map((name) => `${name} done`))
      expect(result.status).toBe(cancelAt < makespan ? 'CANCELLED' : 'COMPLETED')
      expect(result.durationMs).toBe(Math.min(Math.round(cancelAt), makespan))
    }))

  it('[ENS-E4] starts nothing after it, also when tasks fail', () =>
    tryOn(300, async (seed) => {
      const random = randomNumbers(seed + 10_000)
      const graph = graphOf(seed, 0.3)
      const cancelAt = Math.floor(random() * 150) + 0.5
      const { result, events } = await runGraph(graph, {
        cancelAt,
        maxConcurrentTasks: 1 + (seed % 4),
        errorStrategy: seed % 2 === 0 ? 'FAIL_FAST' : 'CONTINUE_ON_ERROR',
      })
      const begin = Date.parse(eventsOf(events, 'ensemble_started')[0]?.startedAt ?? '')
      for (const { startedAt } of eventsOf(events, 'task_started')) {
        expect(Date.parse(startedAt) - begin).toBeLessThan(cancelAt)
      }
      expect(result.durationMs).toBeLessThanOrEqual(Math.round(cancelAt))
      const cut = eventsOf(events, 'task_failed').filter(({ code }) => code === 'CANCELLED')
      if (cut.length > 0) expect(result.status).toBe('CANCELLED')
    }))
})

it('the graphs are what the laws speak of: wide, deep, declared in any order, broken and whole', () => {
  const graphs = Array.from({ length: 300 }, (_, index) => graphOf(index + 1, 0.3))
  const count = (holds: (graph: readonly GraphTask[]) => boolean): number =>
    graphs.filter(holds).length
  const place = (graph: readonly GraphTask[], name: string): number =>
    graph.findIndex((task) => task.name === name)
  expect(
    count((graph) => graph.filter(({ context }) => context.length === 0).length > 2),
  ).toBeGreaterThan(30)
  expect(count((graph) => graph.some(({ context }) => context.length > 2))).toBeGreaterThan(30)
  expect(
    count((graph) =>
      graph.some(({ context }, at) => context.some((name) => place(graph, name) > at)),
    ),
  ).toBeGreaterThan(30)
  const phases = graphs.map((graph) => [...expectedPhases(graph).values()])
  expect(phases.filter((list) => list.includes('skipped')).length).toBeGreaterThan(30)
  expect(
    phases.filter((list) => list.every((phase) => phase === 'completed')).length,
  ).toBeGreaterThan(30)
})
