/** Random task graphs from seeds, and their expected outcomes, computed without the engine. */
import { task, type Task } from '../src/index.ts'
import { timedModel, type TimedModel } from './timed-model.ts'

import type { TaskPhase } from '../src/definition/schedule.ts'
import type { Clock } from '@tutti/core'

/** A task of a graph: its context, its duration, and whether it fails. */
export interface GraphTask {
  readonly name: string
  readonly context: readonly string[]
  readonly ms: number
  readonly fails: boolean
}

/** Returns a generator of numbers from 0 to below 1, the same for the same seed (mulberry32). */
export function createRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d_2b_79_f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

export interface GraphSettings {
  readonly maxTasks: number
  /** Share of the tasks that fail, from 0 to 1. */
  readonly failing: number
}

/** Returns a graph without cycles, with its tasks declared in random order. */
export function createRandomGraph(
  random: () => number,
  { maxTasks, failing }: GraphSettings,
): readonly GraphTask[] {
  const count = 1 + Math.floor(random() * maxTasks)
  const density = random()
  const tasks: GraphTask[] = []
  for (let index = 0; index < count; index += 1) {
    const context = tasks.map(({ name }) => name).filter(() => random() < density / 2)
    const ms = 1 + Math.floor(random() * 100)
    tasks.push({ name: `t${index}`, context, ms, fails: random() < failing })
  }
  return tasks
    .map((task) => ({ task, place: random() }))
    .toSorted((a, b) => a.place - b.place)
    .map(({ task }) => task)
}

/** Converts the graph to tasks, each with a timed model. */
export function toTasks(
  graph: readonly GraphTask[],
  clock: Clock,
): { readonly tasks: readonly Task[]; readonly models: ReadonlyMap<string, TimedModel> } {
  const models = new Map(
    graph.map(({ name, ms, fails }) => [
      name,
      timedModel(clock, ms, fails ? new Error(`${name} broke`) : `${name} done`),
    ]),
  )
  const tasks = graph.map(({ name, context }) => {
    const model = models.get(name)
    return task({
      name,
      description: `Do ${name}`,
      context,
      ...(model === undefined ? {} : { model }),
    })
  })
  return { tasks, models }
}

/** Returns the end of each task with unlimited slots: the length of its critical path. */
export function computeFinishTimes(graph: readonly GraphTask[]): ReadonlyMap<string, number> {
  const times = new Map<string, number>()
  const finish = (name: string): number => {
    const known = times.get(name)
    if (known !== undefined) return known
    const found = findTask(graph, name)
    const time = Math.max(0, ...found.context.map(finish)) + found.ms
    times.set(name, time)
    return time
  }
  for (const { name } of graph) finish(name)
  return times
}

/**
 * Returns the phase of each task with CONTINUE_ON_ERROR; a task is skipped as soon as one that it waits for
 * is not completed.
 */
export function computeExpectedPhases(graph: readonly GraphTask[]): ReadonlyMap<string, TaskPhase> {
  const phases = new Map<string, TaskPhase>()
  const findPhase = (name: string): TaskPhase => {
    const known = phases.get(name)
    if (known !== undefined) return known
    const { context, fails } = findTask(graph, name)
    const runs = context.every((before) => findPhase(before) === 'completed')
    const phase = runs ? (fails ? 'failed' : 'completed') : 'skipped'
    phases.set(name, phase)
    return phase
  }
  return new Map(graph.map(({ name }) => [name, findPhase(name)]))
}

function findTask(graph: readonly GraphTask[], name: string): GraphTask {
  const found = graph.find((task) => task.name === name)
  if (found === undefined) throw new Error(`No task "${name}"`)
  return found
}
