/** Laws of every graph with conditions and switches, against an oracle that looks at all tasks at once. */
import { expect, it } from 'vitest'

import { condition, ensemble, task, type Task } from '../src/index.ts'
import { runInProcesses, type Process } from './interrupt-everywhere.ts'
import { createRandom } from './task-graphs.ts'
import { readPhasesAfter } from './task-phases.ts'

import type { TaskPhase } from '../src/definition/schedule.ts'

/** A task of a route. Its condition is true if `reads` has an even number of outputs, or the opposite. */
interface RouteTask {
  readonly name: string
  readonly context: readonly string[]
  readonly fails: boolean
  readonly switchName?: string
  readonly when?: { readonly reads: readonly string[]; readonly isEven: boolean }
}

/** Returns a graph in the order of its edges. Every switch that a task needs has an else. */
function createRoute(seed: number): readonly RouteTask[] {
  const random = createRandom(seed)
  const tasks: RouteTask[] = []
  const pick = (share: number): readonly string[] =>
    tasks.map(({ name }) => name).filter(() => random() < share)
  while (tasks.length < 4 + (seed % 7)) {
    const isSwitch = random() < 0.4
    const cases = isSwitch ? 2 + Math.floor(random() * 2) : 1
    const hasElse = random() < 0.7
    const context = pick(0.3)
    const created = Array.from({ length: cases }, (_, at): RouteTask => {
      const isElse = isSwitch && hasElse && at === cases - 1
      const isConditional = isElse ? false : isSwitch || random() < 0.4
      return {
        name: `t${tasks.length + at}`,
        context: random() < 0.7 ? context : pick(0.3),
        fails: random() < 0.1,
        ...(isSwitch ? { switchName: `s${tasks.length}` } : {}),
        ...(isConditional ? { when: { reads: pick(0.3), isEven: random() < 0.5 } } : {}),
      }
    })
    tasks.push(...created)
  }
  const unmatched = new Set(
    tasks
      .filter(({ switchName, when }) => switchName !== undefined && when === undefined)
      .map(({ switchName }) => switchName),
  )
  const isSafe = (name: string): boolean => {
    const found = tasks.find((one) => one.name === name)
    return found?.switchName === undefined || unmatched.has(found.switchName)
  }
  return tasks.map((one) => ({ ...one, context: one.context.filter(isSafe) }))
}

/** Computes the end of each task by the rule alone. */
function computePhases(route: readonly RouteTask[]): ReadonlyMap<string, TaskPhase | 'excluded'> {
  const phases = new Map<string, TaskPhase | 'excluded'>()
  const isTrue = ({ when }: RouteTask): boolean => {
    if (when === undefined) return true
    const outputs = when.reads.filter((name) => phases.get(name) === 'completed')
    return (outputs.length % 2 === 0) === when.isEven
  }
  for (const one of route) {
    const cases = route.filter(
      ({ name, switchName }) => name === one.name || (switchName ?? name) === one.switchName,
    )
    const isChosen = cases.find(isTrue) === one
    const context = one.context.map((name) => phases.get(name))
    const isLost = context.some((phase) => phase === 'failed' || phase === 'skipped')
    const isExcluded = context.length > 0 && context.every((phase) => phase === 'excluded')
    if (!isChosen) phases.set(one.name, 'excluded')
    else if (isLost) phases.set(one.name, 'skipped')
    else if (isExcluded) phases.set(one.name, 'excluded')
    else phases.set(one.name, one.fails ? 'failed' : 'completed')
  }
  return phases
}

function toTask(process: Process, tasks: ReadonlyMap<string, Task>, one: RouteTask): Task {
  const { name, context, fails, switchName, when } = one
  return task({
    name,
    description: `Do ${name}`,
    context,
    handler: async ({ idempotencyKey }) => {
      process.call(name, idempotencyKey)
      await Promise.resolve()
      if (fails) throw new Error(`${name} broke`)
      return `${name} done`
    },
    ...(switchName === undefined ? {} : { switch: switchName }),
    ...(when === undefined
      ? {}
      : {
          when:
            when.reads.length === 0
              ? () => when.isEven
              : condition(
                  when.reads.flatMap((read) => tasks.get(read) ?? []),
                  (outputs: readonly unknown[]) =>
                    (outputs.filter((output) => output !== undefined).length % 2 === 0) ===
                    when.isEven,
                ),
        }),
  })
}

function openRoute(route: readonly RouteTask[], workflow: 'PARALLEL' | 'SEQUENTIAL') {
  return (process: Process) => {
    const tasks = new Map<string, Task>()
    for (const one of route) tasks.set(one.name, toTask(process, tasks, one))
    return {
      team: ensemble({
        name: 'route',
        workflow,
        errorStrategy: 'CONTINUE_ON_ERROR',
        maxConcurrentTasks: 3,
        tasks: [...tasks.values()],
      }),
    }
  }
}

it('[ENS-X3] [ENS-X5] [ENS-X7] A route that is interrupted anywhere ends each task as the rule says', async () => {
  const seen = new Map<string, number>()
  for (let seed = 1; seed <= 60; seed += 1) {
    const route = createRoute(seed)
    const expected = computePhases(route)
    const workflow = seed % 2 === 0 ? 'PARALLEL' : 'SEQUENTIAL'
    const open = openRoute(route, workflow)
    const whole = await runInProcesses({ open }, [])
    const random = createRandom(seed + 1_000)
    const cuts = [[], ...[1, 2, 3].map(() => [1 + Math.floor(random() * whole.writes)])]
    for (const sizes of cuts) {
      const { events, result } = await runInProcesses({ open }, sizes)
      const ends = [...readPhasesAfter(events)].map(([name, phase]) => `${name} ${phase}`)
      const rule = [...expected].map(
        ([name, phase]) => `${name} ${phase === 'excluded' ? 'skipped' : phase}`,
      )
      expect({ seed, sizes, ends }).toEqual({ seed, sizes, ends: rule })
      const isBroken = [...expected.values()].some((phase) => phase === 'failed')
      expect({ seed, status: result.status }).toEqual({
        seed,
        status: isBroken ? 'FAILED' : 'COMPLETED',
      })
    }
    for (const phase of expected.values()) seen.set(phase, (seen.get(phase) ?? 0) + 1)
  }
  for (const phase of ['completed', 'failed', 'skipped', 'excluded']) {
    expect(seen.get(phase)).toBeGreaterThan(10)
  }
})
