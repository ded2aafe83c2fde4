/**
 * Cases of runs whose added tasks wait for people while no process has the run, for every store: one process parks the run,
 * another decides, and the parent continues without a second call of a model, a tool or a step.
 */
import { Type } from '@tutti/core'
import { ensemble, task, type Ensemble } from '@tutti/ensemble'
import { runStateAfter, type LoggedRunEvent } from '@tutti/protocol'
import { createRunService, type RunService, type RunServiceOptions } from '@tutti/runs'
import { scriptedModel } from '@tutti/testing'
import { expect } from 'vitest'

import { until } from '../../../tooling/test-kit/wait.ts'
import { cancel, decide } from './commands.ts'
import { allEvents } from './waiting-ensemble.ts'

import type { RunStorage } from '@tutti/runs/adapter'

/** A storage location that several processes open, at the same time or one after another. */
export interface ChildrenPlace {
  /** Opens it, like a process that starts. */
  open(): Promise<RunStorage>
}

/** Checks one behavior of a store and of the processes that share it. */
export interface WaitingChildrenCase {
  readonly name: string
  run(place: ChildrenPlace): Promise<void>
}

const SOON = { parkAfterMs: 20, pollMs: 50 } as const
const CLOSE = { drainTimeoutMs: 1_000 }
const FOREVER = { timeoutMs: Infinity }
const TOPICS = ['tides', 'fog', 'rain']

/** End of a key that a database cannot contain as it is. */
const ODD = '/../#2 nul \0 lone \ud800'

/** Calls with an effect, over all processes of a case, in order. */
type Calls = string[]

/** Makes the ensemble of one process: a text for each topic, reviewed, then one text of all. */
function makeWriters(calls: Calls): Ensemble {
  const model = scriptedModel(({ messages }) => {
    const topic = /Write about (\w+)/.exec(messages.map(({ content }) => content).join())?.[1]
    calls.push(`model ${topic}`)
    return `About ${topic}, version ${calls.filter((call) => call === `model ${topic}`).length}`
  })
  const topics = task({
    name: 'topics',
    description: 'List',
    output: Type.Array(Type.String()),
    handler() {
      calls.push('list')
      return TOPICS
    },
  })
  const write = task({
    name: 'write',
    description: 'Write about {topic}',
    context: [],
    forEach: { over: topics, as: 'topic', key: (topic) => topic },
    review: FOREVER,
  })
  const join = task({
    name: 'join',
    description: 'Join',
    context: [write],
    handler({ context }) {
      calls.push('join')
      return context.map(({ output }) => output).join()
    },
  })
  return ensemble({ name: 'writers', model, tasks: [topics, write, join] })
}

/** Makes the ensemble of one process: a handler whose tasks ask people, between two steps. */
function makeOrders(calls: Calls): Ensemble {
  const order = task({
    name: 'order',
    description: 'Order {item}',
    async handler({ ask, step, inputs }) {
      const price = await step('price', () => {
        calls.push(`price ${inputs['item']}`)
        return 7
      })
      const answer = await ask(`How many ${inputs['item']} for ${price}?`, {
        ...FOREVER,
        schema: Type.Integer(),
      })
      return answer.answered ? `${answer.value * price}` : 'none'
    },
  })
  const orders = task({
    name: 'orders',
    description: 'Order',
    async handler({ map, step }) {
      const items = await step('list', () => {
        calls.push('list')
        return ['pens', 'cups']
      })
      const sums = await map(items, order, { key: (item) => `${item}${ODD}` })
      return step('pay', () => {
        calls.push(`pay ${sums.join('+')}`)
        return `paid ${sums.join('+')}`
      })
    },
  })
  return ensemble({ name: 'orders', tasks: [orders] })
}

async function startProcess(
  place: ChildrenPlace,
  made: Ensemble,
  options: RunServiceOptions = {},
): Promise<RunService> {
  const service = createRunService(await place.open(), [made], { ...SOON, ...options })
  await service.start()
  return service
}

/** Submits a run, and waits until no process has it. */
async function submitAndPark(service: RunService): Promise<void> {
  await service.submit({ runId: 'run-1' })
  await until('the run is parked', async () => (await service.status.load()).parked === 1)
  expect(service.status.running).toBe(0)
}

/** Returns the open reviews of the run, by the task that waits. */
async function listOpen(service: RunService): Promise<ReadonlyMap<string, string>> {
  const open = await service.reviews.open({ runId: 'run-1' })
  return new Map(open.map(({ reviewId, request }) => [request.taskName, reviewId]))
}

/** Returns the whole log when the run has ended, and checks that it has no gap and that each task was completed once. */
async function readLog(service: RunService): Promise<readonly LoggedRunEvent[]> {
  const events = await allEvents(service, 'run-1')
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index))
  const done = events.flatMap((event) => (event.type === 'task_completed' ? [event.taskName] : []))
  expect(done).toEqual([...new Set(done)])
  return events
}

/** Returns the output of a task when the run is completed. */
async function readOutput(service: RunService, taskName: string): Promise<string | undefined> {
  const events = await readLog(service)
  expect(events.at(-1)).toMatchObject({ type: 'run_result', status: 'COMPLETED' })
  return events.flatMap((event) =>
    event.type === 'task_completed' && event.taskName === taskName ? [event.output] : [],
  )[0]
}

/** Cases of processes that run one after another, for every store. */
export const waitingChildrenCases: readonly WaitingChildrenCase[] = [
  {
    name: '[RUNS-X1] [RUNS-X5] The tasks of a forEach wait for reviews, another process decides them after a restart, and the parent continues without a second call',
    async run(place) {
      const calls: Calls = []
      const first = await startProcess(place, makeWriters(calls))
      await submitAndPark(first)
      await first.close(CLOSE)
      const second = await startProcess(place, makeWriters(calls))
      const open = await listOpen(second)
      expect([...open.keys()].toSorted()).toEqual(['write/fog', 'write/rain', 'write/tides'])
      await decide(second, open.get('write/fog') ?? '', { action: 'EDIT', text: 'Fog lifts' })
      await decide(second, open.get('write/tides') ?? '', { action: 'CONTINUE' })
      await decide(second, open.get('write/rain') ?? '', { action: 'CONTINUE' })
      expect(await readOutput(second, 'join')).toBe(
        '["About tides, version 1","Fog lifts","About rain, version 1"]',
      )
      expect(calls.toSorted()).toEqual(['join', 'list', 'model fog', 'model rain', 'model tides'])
      await second.close(CLOSE)
    },
  },
  {
    name: '[RUNS-X1] [RUNS-W6] A process that executes nothing decides the tasks of a forEach one after another, and only a rejected one calls its model again',
    async run(place) {
      const calls: Calls = []
      const first = await startProcess(place, makeWriters(calls))
      await submitAndPark(first)
      await first.close(CLOSE)
      const api = await startProcess(place, makeWriters(calls), { executes: false })
      const open = await listOpen(api)
      await decide(api, open.get('write/rain') ?? '', { action: 'CONTINUE' })
      await decide(api, open.get('write/tides') ?? '', { action: 'REJECT', feedback: 'Shorter' })
      await api.close(CLOSE)
      expect(calls).toHaveLength(4)
      const worker = await startProcess(place, makeWriters(calls))
      await until('the rejected task is reviewed again', async () => {
        const again = (await listOpen(worker)).get('write/tides')
        return again !== undefined && again !== open.get('write/tides')
      })
      for (const reviewId of (await listOpen(worker)).values()) {
        await decide(worker, reviewId, { action: 'CONTINUE' })
      }
      expect(await readOutput(worker, 'join')).toBe(
        '["About tides, version 2","About fog, version 1","About rain, version 1"]',
      )
      expect(calls.slice(4)).toEqual(['model tides', 'join'])
      await worker.close(CLOSE)
    },
  },
  {
    name: '[RUNS-X1] [RUNS-X5] The tasks of a map with odd keys ask people, other processes answer, and no step of the parent or of a task is performed again',
    async run(place) {
      const calls: Calls = []
      const first = await startProcess(place, makeOrders(calls))
      await submitAndPark(first)
      await first.close(CLOSE)
      const second = await startProcess(place, makeOrders(calls))
      const open = await listOpen(second)
      await decide(second, open.get(`orders/cups${ODD}`) ?? '', { action: 'EDIT', input: 2 })
      await until('the run is parked again', async () => {
        const { parked, running } = await second.status.load()
        return parked === 1 && running === 0 && (await listOpen(second)).size === 1
      })
      await second.close(CLOSE)
      const third = await startProcess(place, makeOrders(calls))
      await decide(third, open.get(`orders/pens${ODD}`) ?? '', { action: 'EDIT', input: 3 })
      expect(await readOutput(third, 'orders')).toBe('paid 21+14')
      expect(calls.toSorted()).toEqual(['list', 'pay 21+14', 'price cups', 'price pens'])
      await third.close(CLOSE)
    },
  },
  {
    name: '[RUNS-S4] A run whose tasks wait for reviews is cancelled without an owner, and no task or review stays open',
    async run(place) {
      const calls: Calls = []
      const first = await startProcess(place, makeWriters(calls))
      await submitAndPark(first)
      await first.close(CLOSE)
      const api = await startProcess(place, makeWriters(calls), { executes: false })
      const open = await listOpen(api)
      await decide(api, open.get('write/fog') ?? '', { action: 'CONTINUE' })
      const status = await cancel(api, 'run-1')
      await api.close(CLOSE)
      const worker = await startProcess(place, makeWriters(calls))
      const events = await readLog(worker)
      expect(events.at(-1)).toMatchObject({ type: 'run_result', status: 'CANCELLED' })
      const { tasks, reviews } = runStateAfter(events)
      expect(status).toBe('CANCELLING')
      const phases = tasks.map((one) => `${one.name} ${one.status}`)
      expect(phases).toEqual([
        'topics COMPLETED',
        'write CANCELLED',
        'join SKIPPED',
        'write/tides CANCELLED',
        'write/fog CANCELLED',
        'write/rain CANCELLED',
      ])
      expect(reviews.filter((review) => review.status === 'OPEN')).toEqual([])
      expect(await worker.reviews.open()).toEqual([])
      const counts = ['review_withdrawn', 'delegation_completed', 'delegation_failed'].map(
        (type) => events.filter((event) => event.type === type).length,
      )
      expect(counts).toEqual([2, 0, 3])
      await worker.close(CLOSE)
    },
  },
]

/** Cases of several processes at the same time, for stores that they can share. */
export const sharedChildrenCases: readonly WaitingChildrenCase[] = [
  {
    name: '[RUNS-S1] [RUNS-W6] One process parks a forEach whose tasks wait, another one decides while it lives, and the parent continues once',
    async run(place) {
      const calls: Calls = []
      const owner = await startProcess(place, makeWriters(calls))
      const other = await startProcess(place, makeWriters(calls))
      await submitAndPark(owner)
      const open = await listOpen(other)
      expect(open.size).toBe(3)
      // Either process continues the run.
      await Promise.all(
        [...open.values()].map((reviewId) => decide(other, reviewId, { action: 'CONTINUE' })),
      )
      const events = await readLog(other)
      expect(events.at(-1)).toMatchObject({ status: 'COMPLETED' })
      expect(events.filter(({ type }) => type === 'review_decided')).toHaveLength(3)
      expect(calls.toSorted()).toEqual(['join', 'list', 'model fog', 'model rain', 'model tides'])
      await owner.close(CLOSE)
      await other.close(CLOSE)
    },
  },
]
