/**
 * Tests of interruptions at any write with delegation, memory, reflection, handlers, failures and budgets.
 */
import { defineTool, Type } from '@tutti/core'
import { describe, expect, it } from 'vitest'

import type { MemoryStore, ReflectionStore } from '../src/adapter.ts'
import {
  agent,
  ensemble,
  inMemoryReflectionStore,
  inMemoryStore,
  memoryScope,
  priceList,
  task,
} from '../src/index.ts'
import {
  interruptEverywhere,
  type Process,
  type Scenario,
  type World,
} from './interrupt-everywhere.ts'
import {
  requestCalls,
  readContext,
  createTaskFailure,
  createThinker,
  createWorldTool,
} from './scenario-parts.ts'
import { eventsOf } from './watch-run.ts'

const delegate = (id: string, agentRole: string, taskDescription: string) =>
  [id, 'delegate_task', { agentRole, taskDescription }] as const

/** Returns an object of the external state, created once under its name. */
function openStored<T>({ stored: all }: World, name: string, make: () => T): T {
  if (!all.has(name)) all.set(name, make())
  // NOTE: only `make` of the same name stores a value here.
  return all.get(name) as T
}

/** Opens a manager with two workers: one gets two tasks, the other fails. */
function managed(process: Process): ReturnType<Scenario['open']> {
  const tools = [createWorldTool(process, 'look')]
  const manager = createThinker(process, ({ turn, last }) => {
    if (turn === 0)
      return requestCalls(delegate('m1', 'Writer', 'Write it'), delegate('m2', 'Critic', 'Break'))
    if (turn === 1)
      return requestCalls(delegate('m1', 'Writer', 'Write more'), delegate('m2', 'Nobody', 'x'))
    return `all: ${last}`
  })
  const worker = createThinker(process, ({ turn, prompt, last }) => {
    if (prompt.includes('Break')) return createTaskFailure('I broke')
    if (turn === 0) return requestCalls(['t', 'look', 'here'])
    return `${prompt.includes('more') ? 'more' : 'first'} ${last}`
  })
  return {
    team: ensemble({
      name: 'managed',
      workflow: 'HIERARCHICAL',
      managerModel: manager,
      model: worker,
      tasks: [
        task({
          name: 'write',
          description: 'Write',
          tools,
          agent: agent({ role: 'Writer', goal: 'Write' }),
        }),
        task({
          name: 'check',
          description: 'Check',
          agent: agent({ role: 'Critic', goal: 'Check' }),
          retries: 1,
        }),
        task({ name: 'idle', description: 'Idle', agent: agent({ role: 'Idler', goal: 'Idle' }) }),
      ],
    }),
  }
}

/** Opens agents that delegate to each other, two levels deep. */
function peers(process: Process): ReturnType<Scenario['open']> {
  const role = (name: string) => agent({ role: name, goal: `Be ${name}`, allowDelegation: true })
  const model = createThinker(process, ({ turn, prompt, last }) => {
    const depth = prompt.includes('deepest') ? 2 : prompt.includes('deeper') ? 1 : 0
    if (turn > 0 || depth === 2 || prompt.includes('alone')) return `${depth}<${last.slice(0, 40)}>`
    return depth === 0
      ? requestCalls(delegate('p', 'B', 'Go deeper'), delegate('q', 'C', 'Be alone'))
      : requestCalls(delegate('p', 'C', 'Go deepest'))
  })
  return {
    team: ensemble({
      name: 'peers',
      model,
      tasks: [
        task({ name: 'a', description: 'Do a', agent: role('A') }),
        task({ name: 'b', description: 'Be alone', agent: role('B') }),
        task({ name: 'c', description: 'Be alone too', agent: role('C') }),
      ],
    }),
  }
}

describe(
  '[ENS-E6] [ENS-E16] [ENS-E17] [ENS-H6] delegations of an interrupted or drained run',
  { timeout: 300_000 },
  () => {
    it('[ENS-H2] [ENS-H4] Delegations of a manager continue as the same tasks after an interruption or drain', async () => {
      const { result, events } = await interruptEverywhere({ open: managed })
      expect(result.status).toBe('COMPLETED')
      expect(result.tasks.map(({ taskName }) => taskName)).toEqual(['write', 'Manager', 'write#2'])
      expect(eventsOf(events, 'delegation_failed')).toHaveLength(2)
    })

    it('[ENS-H2] Delegations of peers continue as the same tasks after an interruption or drain, two levels deep', async () => {
      const { result } = await interruptEverywhere({ open: peers })
      expect(result.status).toBe('COMPLETED')
      expect(result.tasks.map(({ taskName }) => taskName)).toContain('a/B/C')
    })
  },
)

describe('[ENS-E6] [ENS-E16] the notes of an interrupted run', { timeout: 300_000 }, () => {
  it('[ENS-T11] The notes of an interrupted run contain every output once, and later tasks receive it', async () => {
    const stores: MemoryStore[] = []
    await interruptEverywhere({
      open: (process) => {
        const store = openStored<MemoryStore>(process.world, 'memory', inMemoryStore)
        stores.push(store)
        const memory = [memoryScope({ name: 'facts', store })]
        const model = createThinker(
          process,
          ({ prompt }) => `did ${/(?<=## Task\n)Do \w/.exec(prompt)?.[0]}`,
        )
        const tasks = ['a', 'b', 'c'].map((name) =>
          task({ name, description: `Do ${name}`, memory }),
        )
        return { team: ensemble({ name: 'memory', model, tasks }) }
      },
    })
    for (const store of stores) {
      const entries = await store.retrieve('facts', { query: '', limit: 10 })
      expect(entries.map(({ text }) => text)).toEqual(['did Do a', 'did Do b', 'did Do c'])
    }
  })

  it('[ENS-T12] The notes of an interrupted run contain one reflection per task', async () => {
    const stores: ReflectionStore[] = []
    await interruptEverywhere({
      open: (process) => {
        const reflections = openStored(process.world, 'reflections', inMemoryReflectionStore)
        stores.push(reflections)
        return {
          team: ensemble({
            name: 'reflect',
            tasks: [
              task({
                name: 'a',
                description: 'Do a',
                reflection: true,
                model: createThinker(process, ({ messages }) =>
                  messages[0]?.content.includes('You review') === true
                    ? 'OBSERVATIONS:\n- it is short\nSUGGESTIONS:\n- be longer'
                    : 'done',
                ),
              }),
            ],
          }),
          options: { reflections },
        }
      },
    })
    const key = await import('../src/memory/reflection.ts').then(({ computeReflectionKey }) =>
      computeReflectionKey('Do a'),
    )
    for (const store of stores) expect(await store.get(key)).toMatchObject({ runs: 1 })
  })
})

describe(
  '[ENS-E6] [ENS-E16] tasks with handlers in an interrupted run',
  { timeout: 300_000 },
  () => {
    it('[ENS-T9] Tasks with handlers in an interrupted run are not repeated once they have ended, and are counted', async () => {
      const { result } = await interruptEverywhere({
        open: (process) => ({
          team: ensemble({
            name: 'handlers',
            tasks: [
              task({
                name: 'load',
                description: 'Load',
                output: Type.Object({ rows: Type.Number() }),
                handler: ({ idempotencyKey }) => {
                  process.call('load', idempotencyKey)
                  return { rows: 3 }
                },
              }),
              task({
                name: 'double',
                description: 'Double',
                context: ['load'],
                output: Type.Object({ rows: Type.Number() }),
                handler: defineTool({
                  name: 'double',
                  description: 'Doubles',
                  input: Type.Object({ rows: Type.Number() }),
                  output: Type.Object({ rows: Type.Number() }),
                  execute({ rows }, { idempotencyKey }) {
                    process.call('double', idempotencyKey)
                    return { rows: rows * 2 }
                  },
                }),
              }),
            ],
          }),
        }),
      })
      expect(result.tasks).toMatchObject([{ structured: { rows: 3 } }, { structured: { rows: 6 } }])
      expect(result.metrics.totalToolCalls).toBe(1)
    })

    it('[ENS-L20] Tasks with handlers in an interrupted run never call a tool twice that is not idempotent', async () => {
      const statuses = new Set<string>()
      await interruptEverywhere({
        once: ['send'],
        open: (process) => ({
          team: ensemble({
            name: 'send',
            tasks: [
              task({
                name: 'send',
                description: 'Send',
                retries: 3,
                handler: createWorldTool(process, 'send', { idempotent: false }),
              }),
            ],
          }),
        }),
        mayEnd: ['COMPLETED', 'FAILED'],
        check: ({ result, inDoubt }) => {
          statuses.add(result.error?.code ?? result.status)
          if (!inDoubt) expect(result.output).toBe('send:Send')
        },
      })
      expect([...statuses].toSorted()).toEqual(['COMPLETED', 'INTERRUPTED'])
    })
  },
)

describe(
  '[ENS-E6] [ENS-E16] [ENS-E17] failures and limits of an interrupted or drained run',
  { timeout: 300_000 },
  () => {
    it.each(['CONTINUE_ON_ERROR', 'FAIL_FAST'] as const)(
      '[ENS-E3] [ENS-W6] Failures and limits of an interrupted or drained run have the same effect with %s',
      async (errorStrategy) => {
        const { result } = await interruptEverywhere({
          // A drained process lets the long task end, so that the tasks waiting for it start earlier.
          races: errorStrategy === 'FAIL_FAST',
          open: (process) => {
            const broken = createThinker(process, () => createTaskFailure('broken'))
            // Longer than all attempts at the broken task, with or without the wait between them.
            const model = createThinker(
              process,
              ({ prompt }) => `${readContext(prompt)} and more`,
              {
                ms: 900,
              },
            )
            return {
              team: ensemble({
                name: 'broken',
                errorStrategy,
                model,
                modelRetries: 0,
                tasks: [
                  task({ name: 'a', description: 'Do a', retries: 1, model: broken }),
                  task({ name: 'b', description: 'Do b', context: ['a'] }),
                  task({ name: 'c', description: 'Do c' }),
                  task({ name: 'd', description: 'Do d', context: ['c'] }),
                  task({ name: 'e', description: 'Do e', context: ['b', 'd'] }),
                ],
              }),
            }
          },
        })
        expect(result.status).toBe('FAILED')
        const done = errorStrategy === 'FAIL_FAST' ? ['c'] : ['c', 'd']
        expect(result.tasks.map(({ taskName }) => taskName)).toEqual(done)
      },
    )

    it.each([
      ['the run', { budget: { maxModelCalls: 3 } }, {}],
      ['the run', { budget: { maxToolCalls: 3 } }, {}],
      ['the run', { budget: { maxCostUsd: 0.0006 } }, {}],
      ['task "a"', {}, { budget: { maxTokens: 120 } }],
    ])(
      '[ENS-B1] Limits of an interrupted or drained run include the budget of %s over all processes: %j %j',
      async (of, run, each) => {
        const { result } = await interruptEverywhere({
          open: (process) => ({
            team: ensemble({
              name: 'budget',
              ...run,
              model: createThinker(process, ({ turn, last }) =>
                turn < 4 ? requestCalls([`t${turn}`, 'look', 'x']) : last,
              ),
              tasks: [
                task({
                  name: 'a',
                  description: 'Do a',
                  tools: [createWorldTool(process, 'look')],
                  retries: 1,
                  ...each,
                }),
                task({ name: 'b', description: 'Do b' }),
              ],
            }),
            options: {
              prices: priceList({
                'scripted:thinker': { inputPerMillion: 3, outputPerMillion: 15 },
              }),
            },
          }),
        })
        expect(result).toMatchObject({
          status: 'FAILED',
          error: { code: 'BUDGET_EXCEEDED', details: { of } },
        })
      },
    )
  },
)
