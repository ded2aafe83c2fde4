import { TuttiError, Type } from '@tutti/core'
import { ensemble, task } from '@tutti/ensemble'
import { scriptedModel } from '@tutti/testing'
import { describe, expect, it } from 'vitest'

import { orderProblems } from './dashboard-order.ts'
import { Screen } from './dashboard-screen.ts'
import { openServer } from '../../control-api/test/open-server.ts'
import { submit } from '../../control-api/test/paused-ensembles.ts'

import type { LoggedRunEvent } from '@tutti/protocol'

/** Number of items of the list. */
const ITEMS = 200

/** Returns an ensemble whose tasks add others in each way; every hundredth item fails once. */
function garden() {
  const failed = new Set<string>()
  const model = scriptedModel(({ messages }) => {
    const text = JSON.stringify(messages)
    const [, item = ''] = /Water plant (\d00)\b/.exec(text) ?? []
    if (item === '' || failed.has(item)) return 'Done'
    failed.add(item)
    throw new TuttiError('TASK_FAILED', `Plant ${item} is dry`)
  })
  const list = task({
    name: 'list',
    description: 'List the plants',
    output: Type.Array(Type.Number()),
    handler: () => Array.from({ length: ITEMS }, (_, at) => at + 1),
  })
  const water = task({
    name: 'water',
    description: 'Water plant {item}',
    retries: 1,
    forEach: { over: list, maxItems: ITEMS, maxParallel: 8 },
  })
  const look = task({ name: 'look', description: 'Look at the garden' })
  const write = task({ name: 'write', description: 'Write about it', context: [look] })
  const report = task({
    name: 'report',
    ensemble: ensemble({ name: 'reporter', model, tasks: [look, write] }),
  })
  const plant = task({ name: 'plant', description: 'Plant {item}', handler: () => 'Planted' })
  const extend = task({
    name: 'extend',
    description: 'Extend the garden',
    handler: async ({ map, task: add }) => {
      const planted = await map(['rose', 'oak'], plant)
      return [...planted, await add(report)].join()
    },
  })
  return ensemble({ name: 'garden', model, tasks: [list, water, report, extend] })
}

/** Names of all tasks of a run of {@link garden}. */
const TASKS = [
  'list',
  'water',
  ...Array.from({ length: ITEMS }, (_, at) => `water/${at}`),
  'report',
  'report/look',
  'report/write',
  'extend',
  'extend/plant-0',
  'extend/plant-1',
  'extend/report',
  'extend/report/look',
  'extend/report/write',
]

function namesOf(events: readonly LoggedRunEvent[]): ReadonlyMap<number, string> {
  const started = events.filter((event) => event.type === 'task_started')
  return new Map(started.map(({ taskIndex, taskName }) => [taskIndex, taskName]))
}

describe('a dashboard of AgentEnsemble', () => {
  it('A dashboard of AgentEnsemble shows each task that tasks have added, with its number, and all as ended', async () => {
    await using api = await openServer({ ensembles: [garden()] })
    await using screen = new Screen(api)
    await screen.greeted()
    const runId = await submit(api, 'garden')
    const picture = await screen.ended(runId)
    await screen.socket.next('run_result')
    const { events } = screen.socket
    expect(events.at(-1)).toMatchObject({ type: 'run_result', status: 'COMPLETED' })
    expect([...screen.problems, ...orderProblems(events)]).toEqual([])
    expect(picture.tasks.map(({ status }) => status)).toEqual(TASKS.map(() => 'completed'))
    expect(picture.totalTasks).toBe(TASKS.length)
    const names = namesOf(events)
    expect([...names.values()].toSorted()).toEqual(TASKS.toSorted())
    expect(picture.tasks.map(({ taskIndex }) => taskIndex).toSorted((a, b) => a - b)).toEqual(
      TASKS.map((_, at) => at + 1),
    )
    const delegations = Object.values(picture.delegations)
    expect(delegations).toHaveLength(TASKS.length - 4)
    expect(delegations.every((shown) => shown.endsWith('delegation_completed'))).toBe(true)
    const retried = events.filter(({ type }) => type === 'task_attempt_failed')
    expect(retried).toHaveLength(ITEMS / 100)
    await using late = new Screen(api)
    const shown = await late.greeted()
    expect(late.problems).toEqual([])
    expect({ ...shown, turns: {} }).toEqual({ ...picture, turns: {} })
  })
})
