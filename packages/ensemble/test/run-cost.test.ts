/** Tests of the cost of a run without a server, in counts that do not depend on the machine. */
import { promiseHooks, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

import { defineTool, systemClock, Type, type Clock } from '@tutti/core'
import { expect, it } from 'vitest'

import { agent, ensemble, task, type Ensemble } from '../src/index.ts'
import { scriptedModel } from './testing.ts'

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

/** Collects young objects, and returns the size of the heap that is left, in bytes. */
function collectYoung(): number {
  setFlagsFromString('--expose-gc')
  // NOTE: with the flag, a new context has the function.
  const collect = runInNewContext('gc') as (options: { readonly type: 'minor' }) => void
  collect({ type: 'minor' })
  return process.memoryUsage().heapUsed
}

function listNames(count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `task-${index}`)
}

it('a task of code reads the clock for its two events and its duration, and creates five promises', async () => {
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

it('a task of a model reads the clock for its events, its duration and its latency, and creates 23 promises', async () => {
  const cost = await measureTask((count) =>
    ensemble({
      name: 'models',
      model: scriptedModel(() => 'Counted'),
      tasks: listNames(count).map((name) => task({ name, description: 'Count' })),
    }),
  )
  // task_started, task_input, llm_iteration_started, token, llm_iteration_completed, task_completed
  expect(cost.reads).toBe(6 + 2 + 2)
  expect(cost.promises).toBeLessThanOrEqual(23)
})

it('a minor collection frees a finished run with a tool call', async () => {
  const order = defineTool({
    name: 'order',
    description: 'Orders goods',
    input: Type.Object({}),
    execute: () => 'Ordered',
  })
  const team = ensemble({
    name: 'shop',
    model: scriptedModel(
      ({ messages }) =>
        messages.at(-1)?.role === 'tool'
          ? 'Done'
          : { toolCalls: [{ name: 'order', arguments: {} }] },
      { maxRequests: 0 },
    ),
    tasks: [
      task({
        description: 'Order',
        agent: agent({ role: 'Buyer', goal: 'Goods', tools: [order] }),
      }),
    ],
  })
  const run = async (runs: number): Promise<void> => {
    for (let made = 0; made < runs; made += 1) await team.run({}, { onEvent: () => undefined })
  }
  await run(500)
  const before = collectYoung()
  await run(500)
  // What a run allocates and a minor collection keeps; the whole run would be 11 kB.
  expect((collectYoung() - before) / 500).toBeLessThan(4_000)
})
