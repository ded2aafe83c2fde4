/** Tests of memory scopes and reflection. */
import { describe, expect, it, beforeEach } from 'vitest'

import {
  agent,
  ensemble,
  inMemoryReflectionStore,
  inMemoryStore,
  memoryScope,
  task,
} from '../src/index.ts'
import { MANAGER } from '../src/internal.ts'
import { delegate, teamModel } from './team-model.ts'
import { fakeClock, scriptedModel, type FakeClock } from './testing.ts'
import { eventsOf, listFailures, watchRun, type WatchOptions } from './watch-run.ts'

import type { ChatModel, MemoryEntry, MemoryStore, Reflection } from '../src/adapter.ts'
import type { TaskDefinition } from '../src/index.ts'
import type { Logger } from '@tutti/core'

let clock: FakeClock
let logged: string[]
let logger: Logger

beforeEach(() => {
  clock = fakeClock()
  logged = []
  const log = (message: string): void => {
    logged.push(message)
  }
  logger = { debug: log, info: log, warn: log, error: log }
})

async function run(
  model: ChatModel,
  { options = {}, ...settings }: Partial<TaskDefinition> & { options?: WatchOptions },
) {
  const work = task({ name: 'work', description: 'Write about {topic}', ...settings })
  const { events, ended } = watchRun(
    ensemble({ name: 'team', model, modelRetries: 0, tasks: [work] }),
    {
      clock,
      logger,
      runId: 'run-1',
      inputs: { topic: 'jazz' },
      ...options,
    },
  )
  await clock.advance(30_000)
  return { events, result: await ended }
}

function entry(text: string, taskName = 'earlier'): MemoryEntry {
  return { text, storedAt: '2026-01-01T00:00:00.000Z', taskName, agentRole: 'Writer' }
}

function prompt(model: ReturnType<typeof scriptedModel>, call = 0): string {
  return model.requests[call]?.messages[1]?.content ?? ''
}

const broken: MemoryStore = {
  append: () => Promise.reject(new Error('Disk full')),
  retrieve: () => Promise.reject(new Error('No connection')),
}

describe('[ENS-T11] a task with memory', () => {
  it('A task with memory receives the last entries of each scope, scope by scope', async () => {
    const store = inMemoryStore({ clock })
    for (const text of ['one', 'two', 'three']) await store.append('facts', entry(text))
    await store.append('style', entry('Be brief'))
    const model = scriptedModel(['done'])
    const memory = [
      memoryScope({ name: 'style', store }),
      memoryScope({ name: 'empty', store }),
      memoryScope({ name: 'facts', store, limit: 2 }),
    ]
    await run(model, { memory })
    const shown = (text: string): string =>
      `### Writer: earlier (2026-01-01T00:00:00.000Z)\n${text}\n---`
    expect(prompt(model).split('\n\n## ').slice(0, 3)).toEqual([
      `## Memory: style\n${shown('Be brief')}`,
      `Memory: facts\n${shown('two')}\n${shown('three')}`,
      'Task\nWrite about jazz',
    ])
  })

  it('A task with memory receives at most its limit of entries, also if the store returns more', async () => {
    const asked: unknown[] = []
    const store: MemoryStore = {
      append: async () => undefined,
      async retrieve(scope, query) {
        asked.push([scope, query])
        return ['one', 'two', 'three'].map((text) => entry(text))
      },
    }
    const model = scriptedModel(['done'])
    await run(model, { memory: [memoryScope({ name: 'facts', store, limit: 2 })] })
    expect(asked).toEqual([['facts', { query: 'Write about jazz', limit: 2 }]])
    expect(prompt(model)).not.toContain('one')
    expect(prompt(model)).toContain('\nthree\n')
  })

  it('A task with memory appends its output to every scope when it is completed, for later tasks and runs', async () => {
    const store = inMemoryStore({ clock })
    const memory = [memoryScope({ name: 'a', store }), memoryScope({ name: 'b', store })]
    const model = scriptedModel(['first', 'second'])
    await run(model, { memory })
    const stored = await store.retrieve('b', { query: '', limit: 9 })
    expect(stored).toEqual([
      {
        text: 'first',
        storedAt: '2026-01-01T00:00:00.000Z',
        taskName: 'work',
        agentRole: 'Writer',
        runId: 'run-1',
      },
    ])
    await run(model, { memory })
    expect(prompt(model, 1)).toContain('\nfirst\n')
    expect(await store.retrieve('a', { query: '', limit: 9 })).toHaveLength(2)
  })

  it('A task with memory appends nothing when it fails', async () => {
    const store = inMemoryStore({ clock })
    await run(scriptedModel(['bad']), {
      memory: [memoryScope({ name: 'a', store })],
      guardrails: { output: [() => 'No'] },
    })
    expect(await store.retrieve('a', { query: '', limit: 9 })).toEqual([])
  })

  it('A task with memory fails with the name of the scope if its memory cannot be read', async () => {
    const model = scriptedModel(['never'])
    const { result } = await run(model, { memory: [memoryScope({ name: 'facts', store: broken })] })
    expect(result.error).toMatchObject({
      code: 'TASK_FAILED',
      message: 'Failed to read memory scope "facts": No connection',
    })
    expect(model.requests).toEqual([])
  })

  it('A task with memory is retried if another attempt may be able to read it', async () => {
    let reads = 0
    const store: MemoryStore = {
      ...broken,
      async retrieve() {
        reads += 1
        if (reads === 1) throw new Error('No connection')
        return [entry('found')]
      },
    }
    const model = scriptedModel(['done'])
    const { result } = await run(model, {
      memory: [memoryScope({ name: 'facts', store })],
      retries: 1,
    })
    expect(result.tasks).toMatchObject([{ attempt: 2, output: 'done' }])
    expect(prompt(model)).toContain('found')
  })

  it('[ENS-C6] A task with memory is interrupted while its memory is read, also if the store ignores it', async () => {
    const store: MemoryStore = { ...broken, retrieve: () => new Promise(() => undefined) }
    const { events, result } = await run(scriptedModel([]), {
      memory: [memoryScope({ name: 'facts', store })],
      timeoutMs: 100,
    })
    expect(result.status).toBe('FAILED')
    expect(listFailures(events)).toMatchObject([{ code: 'TASK_TIMEOUT', durationMs: 5_100 }])
  })
})

it('[ENS-T8] A task stays completed if one memory scope cannot be written, and the others are written', async () => {
  const store = inMemoryStore({ clock })
  const half: MemoryStore = { ...broken, retrieve: async () => [] }
  const { result } = await run(scriptedModel(['done']), {
    memory: [memoryScope({ name: 'a', store: half }), memoryScope({ name: 'b', store })],
  })
  expect(result.status).toBe('COMPLETED')
  expect(logged).toEqual(['Failed to write a memory scope'])
  expect(await store.retrieve('b', { query: '', limit: 9 })).toHaveLength(1)
})

const usage = { inputTokens: 10, outputTokens: 1 }
const reflection = {
  text: 'REFINED DESCRIPTION:\nWrite a song\nOBSERVATIONS:\n- Dull\nSUGGESTIONS:\n- Be bold',
  usage,
}

describe('[ENS-T12] a task with reflection', () => {
  it('A task with reflection makes one more call when it is accepted, and the next run receives the result', async () => {
    const reflections = inMemoryReflectionStore()
    const model = scriptedModel([{ text: 'A line', usage }, reflection, 'A song', reflection])
    const settings = { reflection: true, options: { reflections } }
    const { events, result } = await run(model, settings)
    expect(result).toMatchObject({ output: 'A line', metrics: { totalTokens: 22 } })
    expect(eventsOf(events, 'llm_iteration_completed').map((e) => e.iterationIndex)).toEqual([0, 1])
    expect(model.requests[1]).toMatchObject({ tools: [], toolChoice: 'none' })
    expect(prompt(model, 1)).toContain('## Output\nA line')
    expect(prompt(model)).not.toContain('Improvement')

    await run(model, { ...settings, options: { reflections, inputs: { topic: 'rock' } } })
    const [notes] = /## Task Improvement Notes\n(.*?)\n\n## Task\n/s.exec(prompt(model, 2)) ?? []
    expect(notes).toContain('Better description: Write a song')
    expect(notes).toContain('- Be bold')
    expect(notes).not.toContain('Better expected output')
    expect(prompt(model, 3)).toContain('## Notes of Earlier Runs')
  })

  it('A task with reflection makes no further call when it fails', async () => {
    const model = scriptedModel(['A line'])
    await run(model, { reflection: true, guardrails: { output: [() => 'No'] } })
    expect(model.requests).toHaveLength(1)
  })

  it('A task with reflection is recognized in the next run of a manager, which words it differently', async () => {
    const reflections = inMemoryReflectionStore()
    const model = teamModel({
      [MANAGER]: [
        delegate(['Writer', 'Write a poem']),
        'Done',
        delegate(['Writer', 'Write']),
        'Done',
      ],
      Writer: ['A poem', 'A song'],
      '': [reflection, reflection],
    })
    const writer = agent({ role: 'Writer', goal: 'Write' })
    const team = ensemble({
      name: 'team',
      model,
      workflow: 'HIERARCHICAL',
      tasks: [task({ name: 'write', description: 'Write it', agent: writer, reflection: true })],
    })
    await watchRun(team, { clock, reflections }).ended
    await watchRun(team, { clock, reflections }).ended
    expect(model.requestsOf('Writer')[1]?.messages[1]?.content).toContain('- Be bold')
  })
})

describe('[ENS-T8] a failed reflection', () => {
  const stores: readonly [string, Partial<ReturnType<typeof inMemoryReflectionStore>>][] = [
    ['written', { put: () => Promise.reject(new Error('Disk full')) }],
    ['read', { get: (): Promise<Reflection | undefined> => Promise.reject(new Error('Gone')) }],
  ]

  it.each(stores)(
    'A failed reflection is logged if its store cannot be %s, and the task is completed',
    async (_what, fault) => {
      const reflections = { ...inMemoryReflectionStore(), ...fault }
      const model = scriptedModel([{ text: 'A line', usage }, reflection])
      const { result } = await run(model, { reflection: true, options: { reflections } })
      expect(result).toMatchObject({ status: 'COMPLETED', output: 'A line' })
      expect(logged).toContain('Failed to reflect on a task')
    },
  )

  it('A failed reflection is logged if its model fails, and the usage is counted', async () => {
    const model = scriptedModel([{ text: 'A line', usage }, new Error('No credit')])
    const { events, result } = await run(model, { reflection: true })
    expect(result).toMatchObject({ status: 'COMPLETED', metrics: { totalTokens: 11 } })
    expect(eventsOf(events, 'llm_iteration_failed')).toMatchObject([{ iterationIndex: 1 }])
    expect(logged).toEqual(['Failed to reflect on a task'])
  })

  it('A failed reflection is ignored if it is not usable or the budget is exhausted', async () => {
    const empty = await run(
      scriptedModel([
        { text: 'A line', usage },
        { text: 'Fine!', usage },
      ]),
      {
        reflection: true,
      },
    )
    expect(empty.result).toMatchObject({ status: 'COMPLETED', metrics: { totalTokens: 22 } })
    const model = scriptedModel(['A line', reflection])
    const { result } = await run(model, { reflection: true, budget: { maxModelCalls: 1 } })
    expect(result.status).toBe('COMPLETED')
    expect(model.requests).toHaveLength(1)
  })

  it('A failed reflection does not change an accepted output if the run is cancelled meanwhile', async () => {
    const controller = new AbortController()
    const model = scriptedModel(['Done', 'too late to say'])
    const { events, result } = await run(model, {
      reflection: true,
      options: {
        signal: controller.signal,
        onEvent(event) {
          if (event.type === 'token' && event.iterationIndex === 1) controller.abort()
        },
      },
    })
    expect(result).toMatchObject({ status: 'COMPLETED', output: 'Done' })
    expect(eventsOf(events, 'llm_iteration_failed')).toMatchObject([
      { iterationIndex: 1, code: 'CANCELLED' },
    ])
  })
})

describe('a memory scope without a store', () => {
  const model = () => scriptedModel([{ text: 'Jazz began in New Orleans' }])
  const memory = [memoryScope({ name: 'facts' })]

  it('A memory scope without a store uses the store of the run, which can serve many runs', async () => {
    const memories = inMemoryStore()
    await run(model(), { memory, options: { memories } })
    const second = model()
    await run(second, { memory, options: { memories } })
    const [request] = second.requests
    expect(JSON.stringify(request)).toContain('Jazz began in New Orleans')
  })

  it('A memory scope without a store retains nothing after the run if the run has no store', async () => {
    await run(model(), { memory })
    const second = model()
    await run(second, { memory })
    expect(JSON.stringify(second.requests)).not.toContain('Memory: facts')
  })
})
