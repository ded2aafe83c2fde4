/** Laws of every graph with conditions and switches, against an oracle that looks at all tasks at once. */
import { expect, it } from 'vitest'

import { ensemble, task, type Task } from '../src/index.ts'
import { runInProcesses, type Process } from './interrupt-everywhere.ts'
import { computePhases, createRoute, toChoice, type RouteTask } from './routes.ts'
import { createRandom } from './task-graphs.ts'
import { readPhasesAfter } from './task-phases.ts'

function toTask(process: Process, tasks: ReadonlyMap<string, Task>, one: RouteTask): Task {
  const { name, context, fails } = one
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
    ...toChoice(one, tasks),
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
    const route = createRoute(createRandom(seed), 4 + (seed % 7))
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
