/** Laws of every graph of tasks, tested on graphs from seeds; a failure names its seed. */
import { describe, expect, it } from 'vitest'

import { ensemble, type EnsembleDefinition, type RunResult } from '../src/index.ts'
import {
  computeExpectedPhases,
  computeFinishTimes,
  createRandomGraph,
  createRandom,
  toTasks,
  type GraphTask,
} from './task-graphs.ts'
import { readPhasesAfter } from './task-phases.ts'
import { fakeClock } from './testing.ts'
import { eventsOf, listNamesIn, watchRun } from './watch-run.ts'

import type { TimedModel } from './timed-model.ts'
import type { RunEvent } from '@tutti/protocol'

/** Tests a law on `count` graphs concurrently, each with its own clock. */
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
  /** Time of the cancel, in milliseconds since the start of the run. */
  readonly cancelAt?: number
}

/** Runs a graph with its own clock and checks the laws of every run. */
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

/** Checks that each task starts at most once, and never before its context is completed. */
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

/** Returns the maximum number of tasks that ran at the same time. */
function countMostRunning(events: readonly RunEvent[]): number {
  let running = 0
  let most = 0
  for (const { type } of events) {
    if (type === 'task_started') running += 1
    if (/^task_(?:completed|attempt_failed|failed)$/.test(type)) running -= 1
    most = Math.max(most, running)
  }
  return most
}

function createGraph(seed: number, failing: number): readonly GraphTask[] {
  return createRandomGraph(createRandom(seed), { maxTasks: 9, failing })
}

describe('a graph without failures', () => {
  it('[ENS-E2] A graph without failures takes as long as its critical path', () =>
    tryOn(300, async (seed) => {
      const graph = createGraph(seed, 0)
      const { result, events } = await runGraph(graph)
      const times = computeFinishTimes(graph)
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

  it('[ENS-W4] A graph without failures never exceeds its slots and never leaves one empty', () =>
    tryOn(300, async (seed) => {
      const graph = createGraph(seed, 0)
      const slots = 1 + (seed % 3)
      const { result, events } = await runGraph(graph, { maxConcurrentTasks: slots })
      expect(result.status).toBe('COMPLETED')
      expect(countMostRunning(events)).toBeLessThanOrEqual(slots)
      // Graham's bound: a schedule that leaves no slot empty while a task is ready cannot take longer.
      const critical = Math.max(...computeFinishTimes(graph).values())
      const work = sum(graph.map(({ ms }) => ms))
      expect(result.durationMs).toBeLessThanOrEqual((work - critical) / slots + critical)
      expect(result.durationMs).toBeGreaterThanOrEqual(Math.max(critical, work / slots))
    }))

  it('[ENS-W1] A graph without failures runs one task at a time in SEQUENTIAL', () =>
    tryOn(300, async (seed) => {
      const graph = createGraph(seed, 0).map((task) => ({ ...task, context: [] }))
      const { result, events } = await runGraph(graph, { workflow: 'SEQUENTIAL' })
      expect(result.durationMs).toBe(sum(graph.map(({ ms }) => ms)))
      expect(eventsOf(events, 'task_started').map(({ taskName }) => taskName)).toEqual(
        graph.map(({ name }) => name),
      )
    }))
})

describe('a graph with failures', () => {
  it('[ENS-E3] A graph with failures starts nothing after a failure with FAIL_FAST', () =>
    tryOn(300, async (seed) => {
      const graph = createGraph(seed, 0.3)
      const { result, events } = await runGraph(graph, { maxConcurrentTasks: 1 + (seed % 4) })
      const types = events.map(({ type }) => type)
      const failure = types.indexOf('task_failed')
      expect(result.status).toBe(failure === -1 ? 'COMPLETED' : 'FAILED')
      if (failure === -1) return
      expect(types.lastIndexOf('task_started')).toBeLessThan(failure)
      expect(result.error?.message).toBe(eventsOf(events, 'task_failed')[0]?.reason)
    }))

  it('[ENS-W6] A graph with failures runs all tasks that do not need a failed one with CONTINUE_ON_ERROR', () =>
    tryOn(300, async (seed) => {
      const graph = createGraph(seed, 0.3)
      const settings = {
        errorStrategy: 'CONTINUE_ON_ERROR',
        maxConcurrentTasks: 1 + (seed % 4),
      } as const
      const { result, events } = await runGraph(graph, settings)
      const expected = computeExpectedPhases(graph)
      expect(readPhasesAfter(events)).toEqual(expected)
      const broken = [...expected.values()].some((phase) => phase !== 'completed')
      expect(result.status).toBe(broken ? 'FAILED' : 'COMPLETED')
    }))
})

describe('a graph that is cancelled', () => {
  it('[ENS-E4] A graph that is cancelled stops at once and retains completed tasks', () =>
    tryOn(300, async (seed) => {
      const graph = createGraph(seed, 0)
      const times = computeFinishTimes(graph)
      const makespan = Math.max(...times.values())
      // Between two milliseconds, so that no task ends at the time of the cancel.
      const cancelAt = Math.floor(createRandom(seed + 10_000)() * makespan * 1.2) + 0.5
      const { result, events } = await runGraph(graph, { cancelAt })
      const done = graph.map(({ name }) => name).filter((name) => (times.get(name) ?? 0) < cancelAt)
      expect(listNamesIn(readPhasesAfter(events), 'completed').toSorted()).toEqual(done.toSorted())
      expect(result.tasks.map(({ output }) => output)).toEqual(done.map((name) => `${name} done`))
      expect(result.status).toBe(cancelAt < makespan ? 'CANCELLED' : 'COMPLETED')
      expect(result.durationMs).toBe(Math.min(Math.round(cancelAt), makespan))
    }))

  it('[ENS-E4] A graph that is cancelled starts nothing after the cancel, also when tasks fail', () =>
    tryOn(300, async (seed) => {
      const random = createRandom(seed + 10_000)
      const graph = createGraph(seed, 0.3)
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

it('The graphs of the tests are wide and deep, in any order of declaration, with and without failures', () => {
  const graphs = Array.from({ length: 300 }, (_, index) => createGraph(index + 1, 0.3))
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
  const phases = graphs.map((graph) => [...computeExpectedPhases(graph).values()])
  expect(phases.filter((list) => list.includes('skipped')).length).toBeGreaterThan(30)
  expect(
    phases.filter((list) => list.every((phase) => phase === 'completed')).length,
  ).toBeGreaterThan(30)
})
