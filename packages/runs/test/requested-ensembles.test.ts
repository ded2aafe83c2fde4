/** Runs whose request has ensembles as tasks, and overrides of tasks that they add: after crashes, as forks and as replays. */
import { ensemble, task } from '@tutti/ensemble'
import { createRunService, sqliteRunStorage } from '@tutti/runs'
import type { RequestedRun, RunStorage } from '@tutti/runs/adapter'
import { fakeClock, scriptedModel } from '@tutti/testing'
import { describe, expect, it } from 'vitest'

import { readAll } from '../src/testing/support/run-fixtures.ts'
import { allEvents, temporaryDirectory } from './waiting-ensemble.ts'
import { dyingStorage, type Death } from './dying-storage.ts'

import type { LoggedRunEvent } from '@tutti/protocol'

const RUN_ID = 'run-1'

const REQUEST: RequestedRun = {
  tasks: [
    {
      name: 'guides',
      ensemble: 'trip',
      inputs: { reader: 'readers of {town.id}', city: '{town.name}' },
      forEach: { over: 'towns', as: 'town', key: 'id', maxParallel: 1, collect: 'outputs' },
    },
    { name: 'close', description: 'Close with {house}', context: ['$guides'] },
  ],
  taskOverrides: { 'guides/husum/page': { description: 'Write briefly for {reader}' } },
}

const INPUTS = {
  house: 'us',
  towns: JSON.stringify([
    { id: 'emden', name: 'Emden' },
    { id: 'husum', name: 'Husum' },
  ]),
}

const LINES = [
  'Find sights of Emden',
  'Write for readers of emden',
  'Find sights of Husum',
  'Write briefly for readers of husum',
  'Close with us',
]

/** Returns the service of a process, and the calls of its model by the first line of their task. */
function serve(storage: RunStorage) {
  const asked: string[] = []
  const model = scriptedModel(({ messages }) => {
    const prompt = messages.map(({ content }) => content).join('\n')
    const line = prompt.match(/^(?:Find|Write|Close) .*[^.\n]$/gm)?.at(-1) ?? '?'
    asked.push(line)
    return `${line}.`
  })
  const sights = task({ name: 'sights', description: 'Find sights of {city}' })
  const page = task({ name: 'page', description: 'Write for {reader}', context: [sights] })
  const trip = ensemble({ name: 'trip', model, tasks: [sights, page] })
  const crew = ensemble({ name: 'crew', model, tasks: [task({ name: 'own', description: 'Own' })] })
  return { asked, service: createRunService(storage, [crew, trip], { clock: fakeClock() }) }
}

/** Executes the run until its process dies; returns its calls, and whether the run ended before. */
async function serveUntil(
  path: string,
  death: Death,
): Promise<{ readonly asked: readonly string[]; readonly isEnded: boolean }> {
  await using storage = await sqliteRunStorage(path)
  const dying = dyingStorage(storage, death)
  const { service, asked } = serve(dying.storage)
  await service.start()
  await service.submit({ ...REQUEST, runId: RUN_ID, inputs: INPUTS })
  const end = await Promise.race([dying.died, allEvents(service, RUN_ID)])
  if (end === 'died') return { asked: [...asked], isEnded: false }
  await service.close({ drainTimeoutMs: 0 })
  return { asked, isEnded: true }
}

/** Returns the status of a run, and its outputs by task. */
function resultOf(events: readonly LoggedRunEvent[]): readonly unknown[] {
  const last = events.at(-1)
  if (last?.type !== 'run_result') throw new Error('The run has not ended')
  const { status, outputs } = last
  return [status, Object.fromEntries(outputs.map(({ taskName, output }) => [taskName, output]))]
}

const OUTPUTS = {
  guides: '{"emden":"Write for readers of emden.","husum":"Write briefly for readers of husum."}',
  close: 'Close with us.',
  'guides/emden': 'Write for readers of emden.',
  'guides/emden/sights': 'Find sights of Emden.',
  'guides/emden/page': 'Write for readers of emden.',
  'guides/husum': 'Write briefly for readers of husum.',
  'guides/husum/sights': 'Find sights of Husum.',
  'guides/husum/page': 'Write briefly for readers of husum.',
}

describe('a run whose request has an ensemble as a task', () => {
  it('[RUNS-T11] [RUNS-R2] A run whose request has an ensemble as a task continues after a crash at any commit, without repeated calls', async () => {
    for (let commit = 1; ; commit += 1) {
      using directory = temporaryDirectory()
      const first = await serveUntil(directory.path, { commit, when: 'after' })
      if (first.isEnded) {
        expect(first.asked).toEqual(LINES)
        expect(commit).toBeGreaterThan(LINES.length)
        return
      }
      const storage = await sqliteRunStorage(directory.path)
      const left = (await readAll(storage, RUN_ID)).filter(
        ({ type }) => type === 'llm_iteration_completed',
      )
      const { service, asked } = serve(storage)
      await service.start()
      const at = `died after commit ${commit}`
      expect(resultOf(await allEvents(service, RUN_ID)), at).toEqual(['COMPLETED', OUTPUTS])
      expect(asked, at).toEqual(LINES.slice(left.length))
      await service.close({ drainTimeoutMs: 0 })
    }
  })

  it('[RUNS-E3] [RUNS-V5] A fork overrides single tasks of items, and a replay repeats nothing', async () => {
    using directory = temporaryDirectory()
    const { service, asked } = serve(await sqliteRunStorage(directory.path))
    await service.start()
    await service.submit({ ...REQUEST, runId: RUN_ID, inputs: INPUTS })
    await allEvents(service, RUN_ID)
    asked.length = 0
    const fork = await service.forks.create(RUN_ID, {
      at: { task: 'guides/husum/page' },
      taskOverrides: { 'guides/husum/page': { description: 'Write in rhyme for {reader}' } },
    })
    const [status, outputs] = resultOf(await allEvents(service, fork.runId))
    expect([status, asked]).toEqual([
      'COMPLETED',
      ['Write in rhyme for readers of husum', 'Close with us'],
    ])
    expect(outputs).toMatchObject({
      'guides/emden/page': 'Write for readers of emden.',
      'guides/husum': 'Write in rhyme for readers of husum.',
    })
    asked.length = 0
    const replay = await service.forks.replay(fork.runId, { mode: 'frozen' })
    expect(resultOf(await allEvents(service, replay.runId))).toEqual([status, outputs])
    expect(asked).toEqual([])
    await service.close({ drainTimeoutMs: 0 })
  })

  it('[RUNS-E3] [ENS-P2] Overrides of a fork do not change the tasks of items that began in its parent', async () => {
    using directory = temporaryDirectory()
    const { service, asked } = serve(await sqliteRunStorage(directory.path))
    await service.start()
    await service.submit({ ...REQUEST, runId: RUN_ID, inputs: INPUTS })
    await allEvents(service, RUN_ID)
    asked.length = 0
    const fork = await service.forks.create(RUN_ID, {
      at: { task: 'guides/husum/page' },
      inputs: { house: 'them' },
      taskOverrides: {
        guides: { description: 'Guide to {town.name}' },
        'guides/emden/page': { description: 'Write again for {reader}' },
      },
    })
    expect(resultOf(await allEvents(service, fork.runId))).toEqual([
      'COMPLETED',
      { ...OUTPUTS, close: 'Close with them.' },
    ])
    expect(asked).toEqual(['Write briefly for readers of husum', 'Close with them'])
    await service.close({ drainTimeoutMs: 0 })
  })

  it('[RUNS-V8] An override of an item that is not in the list of its input is refused', async () => {
    using directory = temporaryDirectory()
    const { service } = serve(await sqliteRunStorage(directory.path))
    await service.start()
    const submit = (key: string) =>
      service.submit({
        ...REQUEST,
        inputs: INPUTS,
        taskOverrides: { [key]: { description: 'x' } },
      })
    await expect(submit('guides/husun/page')).rejects.toMatchObject({
      code: 'BAD_REQUEST',
      details: {
        problems: [
          {
            path: '/taskOverrides/guides~1husun~1page',
            message: "Unknown item 'husun'. Available: [emden, husum]. Did you mean 'husum'?",
          },
        ],
      },
    })
    await service.close({ drainTimeoutMs: 0 })
  })
})
