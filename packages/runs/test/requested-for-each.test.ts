/** Runs whose request has a task for each item of a list: after crashes, as forks and as replays. */
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
      name: 'write',
      description: 'Write about {topic.title} in {tone}',
      forEach: {
        over: 'topics',
        as: 'topic',
        key: 'id',
        maxParallel: 1,
        collect: {
          reduce: { name: 'join', description: 'Join for {tone}: {items}' },
          maxTokens: 20,
        },
      },
    },
    { name: 'close', description: 'Close the book', context: ['$write'] },
  ],
}

const INPUTS = {
  tone: 'prose',
  topics: JSON.stringify(
    ['Tides', 'Fog', 'Sand'].map((title) => ({ id: title.toLowerCase(), title })),
  ),
}

/** Tasks that call their model: three items, two groups of outputs, their combination, and the last task. */
const MODEL_CALLS = 7

/** Returns the service of a process, and the calls of its model by the first line of their task. */
function serve(storage: RunStorage) {
  const asked: string[] = []
  const model = scriptedModel(({ messages }) => {
    const prompt = messages.map(({ content }) => content).join('\n')
    const line = /^(?:Write|Join|Close|Sing) .*/m.exec(prompt)?.[0] ?? '?'
    asked.push(line)
    return line.startsWith('Join') ? 'joined' : `${line}.`
  })
  const template = ensemble({
    name: 'crew',
    tasks: [task({ name: 'own', description: 'Own' })],
    model,
  })
  return { asked, service: createRunService(storage, [template], { clock: fakeClock() }) }
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

function resultOf(events: readonly LoggedRunEvent[]): object {
  const last = events.at(-1)
  if (last?.type !== 'run_result') throw new Error('The run has not ended')
  return {
    status: last.status,
    outputs: last.outputs.map(({ taskName, output }) => [taskName, output]),
  }
}

const RESULT = {
  status: 'COMPLETED',
  outputs: [
    ['write', 'joined'],
    ['close', 'Close the book.'],
    ['write/tides', 'Write about Tides in prose.'],
    ['write/fog', 'Write about Fog in prose.'],
    ['write/sand', 'Write about Sand in prose.'],
    ['write/reduce-join-1-0', 'joined'],
    ['write/reduce-join-1-1', 'joined'],
    ['write/reduce-join-2-0', 'joined'],
  ],
}

function completedCalls(events: readonly LoggedRunEvent[]): readonly string[] {
  return events.flatMap((event) =>
    event.type === 'llm_iteration_completed' ? [event.taskName] : [],
  )
}

describe('a run whose request has forEach', () => {
  it('[RUNS-T5] [RUNS-R2] A run whose request has forEach continues after a crash at any commit, without repeated calls', async () => {
    for (let commit = 1; ; commit += 1) {
      using directory = temporaryDirectory()
      const first = await serveUntil(directory.path, { commit, when: 'after' })
      if (first.isEnded) {
        expect(first.asked).toHaveLength(MODEL_CALLS)
        expect(commit).toBeGreaterThan(MODEL_CALLS)
        return
      }
      const storage = await sqliteRunStorage(directory.path)
      const left = completedCalls(await readAll(storage, RUN_ID))
      const { service, asked } = serve(storage)
      await service.start()
      const events = await allEvents(service, RUN_ID)
      const at = `died after commit ${commit}`
      expect(resultOf(events), at).toEqual(RESULT)
      expect(completedCalls(events), at).toEqual([
        'write/tides',
        'write/fog',
        'write/sand',
        'write/reduce-join-1-0',
        'write/reduce-join-1-1',
        'write/reduce-join-2-0',
        'close',
      ])
      expect(asked, at).toHaveLength(MODEL_CALLS - left.length)
      expect((await service.get(RUN_ID))?.run.request?.tasks).toEqual(REQUEST.tasks)
      await service.close({ drainTimeoutMs: 0 })
    }
  })

  it('[RUNS-E3] A fork before the task of one item repeats only what follows, and a replay repeats nothing', async () => {
    using directory = temporaryDirectory()
    const { service, asked } = serve(await sqliteRunStorage(directory.path))
    await service.start()
    await service.submit({ ...REQUEST, runId: RUN_ID, inputs: INPUTS })
    expect(resultOf(await allEvents(service, RUN_ID))).toEqual(RESULT)
    asked.length = 0
    const fork = await service.forks.create(RUN_ID, { at: { task: 'write/sand' } })
    expect(resultOf(await allEvents(service, fork.runId))).toEqual(RESULT)
    expect(asked.map((line) => line.split(' ').slice(0, 3).join(' '))).toEqual([
      'Write about Sand',
      'Join for prose:',
      'Join for prose:',
      'Join for prose:',
      'Close the book',
    ])
    asked.length = 0
    const other = await service.forks.create(RUN_ID, {
      at: { task: 'write/sand' },
      inputs: { tone: 'rhyme' },
      taskOverrides: { 'write/sand': { description: 'Sing about {topic.title} in {tone}' } },
    })
    expect(resultOf(await allEvents(service, other.runId))).toMatchObject({ status: 'COMPLETED' })
    expect(asked[0]).toBe('Sing about Sand in rhyme')
    asked.length = 0
    const replay = await service.forks.replay(RUN_ID, { mode: 'frozen' })
    expect(resultOf(await allEvents(service, replay.runId))).toEqual(RESULT)
    expect(asked).toEqual([])
    await service.close({ drainTimeoutMs: 0 })
  })
})
