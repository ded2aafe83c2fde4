/** Tests of the times of model calls, tool calls and delegations in events, with a manual clock. */
import { defineTextTool, TuttiError } from '@tutti/core'
import { sleep } from '@tutti/core/internal'
import { runStateAfter, type RunEvent } from '@tutti/protocol'
import { beforeEach, expect, it } from 'vitest'

import type { ChatModel } from '../src/adapter.ts'
import { agent, ensemble, task, type Ensemble } from '../src/index.ts'
import { MANAGER } from '../src/internal.ts'
import { joinRuns, startRecorded } from './recorded-run.ts'
import { delegate, teamModel } from './team-model.ts'
import { fakeClock, scriptedModel, type FakeClock } from './testing.ts'
import { watchRun } from './watch-run.ts'

let clock: FakeClock
let startMs: number

beforeEach(() => {
  clock = fakeClock()
  startMs = clock.now()
})

/** Returns the model with a delay of 100 ms before its answer. */
function thinking(model: ChatModel): ChatModel {
  return {
    ...model,
    async *stream(request, options) {
      await sleep(clock, 100, options.signal)
      options.signal.throwIfAborted()
      yield* model.stream(request, options)
    },
  }
}

const call = (...names: readonly string[]) => ({
  toolCalls: names.map((name) => ({ name, arguments: { input: '' } })),
})

/** Returns the times in each event, in milliseconds since the start of the run. */
function listInstants(events: readonly RunEvent[]): readonly unknown[] {
  const from = (instant = ''): number => Date.parse(instant) - startMs
  return events.flatMap((event) => {
    switch (event.type) {
      case 'llm_iteration_started':
        return [['model', from(event.startedAt)]]
      case 'llm_iteration_failed':
        return [['failed', from(event.failedAt)]]
      case 'llm_iteration_completed':
        return [['answered', from(event.completedAt)]]
      case 'tool_called': {
        const endedAt = from(event.completedAt)
        return [[event.toolName, endedAt - event.durationMs, endedAt]]
      }
      case 'delegation_started':
        return [['delegated', from(event.startedAt)]]
      case 'delegation_completed':
        return [['done', from(event.completedAt)]]
      case 'delegation_failed':
        return [['refused', from(event.failedAt)]]
      default:
        return []
    }
  })
}

async function readInstants(team: Ensemble): Promise<readonly unknown[]> {
  const run = watchRun(team, { clock })
  await clock.advance(600_000)
  await run.ended
  return listInstants(run.events)
}

const inner = defineTextTool({
  name: 'inner',
  description: 'A step of 20 ms',
  async execute() {
    await sleep(clock, 20)
    return 'in'
  },
})
const outer = defineTextTool({
  name: 'outer',
  description: 'Calls another tool after 30 ms and waits 10 ms',
  async execute(_, context) {
    await sleep(clock, 30)
    await context.callTool(inner, 'x')
    await sleep(clock, 10)
    return 'out'
  },
})
const quick = defineTextTool({
  name: 'quick',
  description: 'Takes 5 ms',
  async execute() {
    await sleep(clock, 5)
    return 'done'
  },
})

it('[ENS-E20] Turns, waiting calls, nested calls and a repeated call have their times', async () => {
  const busy = new TuttiError('MODEL_FAILED', 'Busy', {
    retryable: true,
    details: { retryAfterMs: 1_000 },
  })
  const model = thinking(scriptedModel([call('outer', 'quick'), busy, 'Done']))
  const work = task({ name: 'work', description: 'Do the work', tools: [outer, quick] })
  const team = ensemble({ name: 'team', model, tasks: [work], maxConcurrentToolCalls: 1 })
  expect(await readInstants(team)).toEqual([
    ['model', 0],
    ['answered', 100],
    ['inner', 130, 150],
    ['outer', 100, 160],
    ['quick', 160, 165],
    ['model', 165],
    ['failed', 265],
    ['model', 1_265],
    ['answered', 1_365],
  ])
})

it('[ENS-E20] The tool of a handler has its time', async () => {
  const work = task({ name: 'work', description: 'Do the work', handler: quick })
  expect(await readInstants(ensemble({ name: 'team', tasks: [work] }))).toEqual([['quick', 0, 5]])
})

it('[ENS-E20] Delegations have their times, including a rejected one', async () => {
  const model = thinking(
    teamModel({ [MANAGER]: [delegate(['A', 'Work']), delegate(['B', 'Work']), 'Done'], A: ['I'] }),
  )
  const a = task({ name: 'a', description: 'Work', agent: agent({ role: 'A', goal: 'Work' }) })
  expect(
    await readInstants(ensemble({ name: 'team', model, workflow: 'HIERARCHICAL', tasks: [a] })),
  ).toEqual([
    ['model', 0],
    ['answered', 100],
    ['delegated', 100],
    ['model', 100],
    ['answered', 200],
    ['done', 200],
    ['delegate_task', 100, 200],
    ['model', 200],
    ['answered', 300],
    ['refused', 300],
    ['delegate_task', 300, 300],
    ['model', 300],
    ['answered', 400],
  ])
})

it('[ENS-E20] A failed worker has its time', async () => {
  const model = thinking(
    teamModel({ [MANAGER]: [delegate(['A', 'Work']), 'Done'], A: [new Error('Lost')] }),
  )
  const a = task({ name: 'a', description: 'Work', agent: agent({ role: 'A', goal: 'Work' }) })
  const team = ensemble({
    name: 'team',
    model,
    workflow: 'HIERARCHICAL',
    tasks: [a],
    modelRetries: 0,
  })
  expect(await readInstants(team)).toContainEqual(['refused', 200])
})

it('[ENS-E20] A turn that another process begins again, and the calls of an answered one, have their times', async () => {
  const script = (): ChatModel => thinking(scriptedModel(() => call('quick')))
  const make = (model: ChatModel): Ensemble =>
    ensemble({
      name: 'team',
      tasks: [task({ name: 'work', description: 'Work', model, tools: [quick], maxIterations: 1 })],
    })
  const first = startRecorded(make(script()), { clock })
  await clock.advance(102)
  first.release()
  await clock.advance(10_000 - 102)
  const second = startRecorded(make(thinking(scriptedModel(['Done']))), { clock, from: first })
  await clock.advance(10_000)
  await second.handle.result
  const { events } = joinRuns(first, second)
  expect(listInstants(events)).toEqual([
    ['model', 0],
    ['answered', 100],
    ['quick', 10_000, 10_005],
    ['model', 10_005],
    ['answered', 10_105],
  ])
  const before = events.slice(
    0,
    events.findIndex(({ type }) => type === 'tool_called'),
  )
  expect(runStateAfter(before).tasks[0]?.turns[0]?.toolCalls).toMatchObject([
    { status: 'RUNNING', startedAt: new Date(startMs + 10_000).toISOString() },
  ])
})
