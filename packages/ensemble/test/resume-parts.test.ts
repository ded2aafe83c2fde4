/** A run that is cut off anywhere: delegation, memory, reflection, handlers, failures, budgets. */
import { defineTool, Type } from '@tutti/core'
import { describe, expect, it } from 'vitest'

import {
  agent,
  ensemble,
  inMemoryReflectionStore,
  inMemoryStore,
  memoryScope,
  priceList,
  task,
  type MemoryStore,
  type ReflectionStore,
} from '../src/index.ts'
import { cutEverywhere, type Process, type Scenario, type World } from './cut-everywhere.ts'
import { calling, contextIn, passing, thinker, worldTool } from './scenario-parts.ts'
import { eventsOf } from './watch-run.ts'

const delegate = (id: string, agentRole: string, taskDescription: string) =>
  [id, 'delegate_task', { agentRole, taskDescription }] as const

/** What the world keeps under that name, made once. */
function kept<T>({ kept: all }: World, name: string, make: () => T): T {
  if (!all.has(name)) all.set(name, make())
  // NOTE: only `make` of the same name puts something there.
  return all.get(name) as T
}

/** A manager with two workers, one of which is asked twice, one of which fails. */
function managed(process: Process): ReturnType<Scenario['open']> {
  const tools = [worldTool(process, 'look')]
  const manager = thinker(process, ({ turn, last }) => {
    if (turn === 0)
      return calling(delegate('m1', 'Writer', 'Write it'), delegate('m2', 'Critic', 'Break'))
    if (turn === 1)
      return calling(delegate('m1', 'Writer', 'Write more'), delegate('m2', 'Nobody', 'x'))
    return `all: ${last}`
  })
  const worker = thinker(process, ({ turn, prompt, last }) => {
    if (prompt.includes('Break')) return passing('I broke')
    if (turn === 0) return calling(['t', 'look', 'here'])
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

/** Agents that hand work to one another, two levels deep. */
function peers(process: Process): ReturnType<Scenario['open']> {
  const role = (name: string) => agent({ role: name, goal: `Be ${name}`, allowDelegation: true })
  const model = thinker(process, ({ turn, prompt, last }) => {
    const depth = prompt.includes('deepest') ? 2 : prompt.includes('deeper') ? 1 : 0
    if (turn > 0 || depth === 2 || prompt.includes('alone')) return `${depth}<${last.slice(0, 40)}>`
    return depth === 0
      ? calling(delegate('p', 'B', 'Go deeper'), delegate('q', 'C', 'Be alone'))
      : calling(delegate('p', 'C', 'Go deepest'))
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
  '[ENS-E6] [ENS-E16] [ENS-E17] [ENS-H6] delegations of a run that is cut off, or let go',
  { timeout: 60_000 },
  () => {
    it('[ENS-H2] [ENS-H4] of a manager go on as the same tasks', async () => {
      const { result, events } = await cutEverywhere({ open: managed })
      expect(result.status).toBe('COMPLETED')
      expect(result.tasks.map(({ taskName }) => taskName)).toEqual(['write', 'Manager', 'write#2'])
      expect(eventsOf(events, 'delegation_failed')).toHaveLength(2)
    })

    it('[ENS-H2] of peers go on as the same tasks, two levels deep', async () => {
      const { result } = await cutEverywhere({ open: peers })
      expect(result.status).toBe('COMPLETED')
      expect(result.tasks.map(({ taskName }) => taskName)).toContain('a/B/C')
    })
  },
)

describe('[ENS-E6] [ENS-E16] what a run that is cut off leaves behind', { timeout: 60_000 }, () => {
  it('[ENS-T11] every output is in the memory once, and later tasks are given it', async () => {
    const stores: MemoryStore[] = []
    await cutEverywhere({
      open: (process) => {
        const store = kept<MemoryStore>(process.world, 'memory', inMemoryStore)
        stores.push(store)
        const memory = [memoryScope({ name: 'facts', store })]
        const model = thinker(
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

  it('[ENS-T12] a task is reflected on once', async () => {
    const stores: ReflectionStore[] = []
    await cutEverywhere({
      open: (process) => {
        const reflections = kept(process.world, 'reflections', inMemoryReflectionStore)
        stores.push(reflections)
        return {
          team: ensemble({
            name: 'reflect',
            tasks: [
              task({
                name: 'a',
                description: 'Do a',
                reflection: true,
                model: thinker(process, ({ messages }) =>
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
  '[ENS-E6] [ENS-E16] tasks with handlers in a run that is cut off',
  { timeout: 60_000 },
  () => {
    it('[ENS-T9] are not done again once done, and are counted', async () => {
      const { result } = await cutEverywhere({
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

    it('[ENS-L20] a handler that is a tool which must not be called twice is not', async () => {
      const statuses = new Set<string>()
      await cutEverywhere({
        once: ['send'],
        open: (process) => ({
          team: ensemble({
            name: 'send',
            tasks: [
              task({
                name: 'send',
                description: 'Send',
                retries: 3,
                handler: worldTool(process, 'send', { idempotent: false }),
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
  '[ENS-E6] [ENS-E16] [ENS-E17] failures and limits of a run that is cut off, or let go',
  { timeout: 60_000 },
  () => {
    it.each(['CONTINUE_ON_ERROR', 'FAIL_FAST'] as const)(
      '[ENS-E3] [ENS-W6] %s',
      async (errorStrategy) => {
        const { result } = await cutEverywhere({
          // A process that stands still lets the long task end, and with it what waits for that, first.
          races: errorStrategy === 'FAIL_FAST',
          open: (process) => {
            const broken = thinker(process, () => passing('broken'))
            // Longer than all attempts at the broken task, with or without the wait between them.
            const model = thinker(process, ({ prompt }) => `${contextIn(prompt)} and more`, {
              ms: 900,
            })
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
    ])('[ENS-B1] a budget of %s counts what every process used: %j %j', async (of, run, each) => {
      const { result } = await cutEverywhere({
        open: (process) => ({
          team: ensemble({
            name: 'budget',
            ...run,
            model: thinker(process, ({ turn, last }) =>
              turn < 4 ? calling([`t${turn}`, 'look', 'x']) : last,
            ),
            tasks: [
              task({
                name: 'a',
                description: 'Do a',
                tools: [worldTool(process, 'look')],
                retries: 1,
                ...each,
              }),
              task({ name: 'b', description: 'Do b' }),
            ],
          }),
          options: {
            prices: priceList({ 'scripted:thinker': { inputPerMillion: 3, outputPerMillion: 15 } }),
          },
        }),
      })
      expect(result).toMatchObject({
        status: 'FAILED',
        error: { code: 'BUDGET_EXCEEDED', details: { of } },
      })
    })
  },
)
