/** Runs whose request has conditions and a switch: after crashes, as forks and as replays. */
import { ensemble, task } from '@tutti/ensemble'
import { createRunService, sqliteRunStorage } from '@tutti/runs'
import type { RequestedRun, RunStorage } from '@tutti/runs/adapter'
import { fakeClock, scriptedModel } from '@tutti/testing'
import { describe, expect, it } from 'vitest'

import { allEvents, temporaryDirectory } from './waiting-ensemble.ts'
import { dyingStorage, type Death } from './dying-storage.ts'

import type { LoggedRunEvent } from '@tutti/protocol'

const RUN_ID = 'run-1'

const REQUEST: RequestedRun = {
  tasks: [
    {
      name: 'classify',
      description: 'Classify {ticket}',
      outputSchema: { type: 'object', properties: { kind: { type: 'string' } } },
    },
    {
      name: 'alarm',
      description: 'Alarm',
      when: "has(inputs.urgent) && inputs.urgent == 'yes'",
    },
    { name: 'page', description: 'Page', context: ['$alarm'] },
    {
      name: 'fix',
      description: 'Fix {ticket}',
      switch: 'route',
      when: "outputs.classify.kind == 'bug'",
    },
    { name: 'answer', description: 'Answer {ticket}', switch: 'route' },
    { name: 'send', description: 'Send', context: ['$fix', '$answer'] },
  ],
}

/** Returns the service of a process. Its model classifies tickets by their text. */
function serve(storage: RunStorage) {
  const model = scriptedModel(({ messages }) => {
    const prompt = messages.map(({ content }) => content).join('\n')
    const line = /^(?:Classify|Alarm|Page|Fix|Answer|Send).*/m.exec(prompt)?.[0] ?? '?'
    if (!line.startsWith('Classify')) return `${line}.`
    return JSON.stringify({ kind: line.includes('crash') ? 'bug' : 'question' })
  })
  const template = ensemble({
    name: 'crew',
    tasks: [task({ name: 'own', description: 'Own' })],
    model,
  })
  return createRunService(storage, [template], { clock: fakeClock() })
}

async function serveUntil(path: string, death: Death): Promise<'died' | 'ended'> {
  await using storage = await sqliteRunStorage(path)
  const dying = dyingStorage(storage, death)
  const service = serve(dying.storage)
  await service.start()
  await service.submit({ ...REQUEST, runId: RUN_ID, inputs: { ticket: 'a crash' } })
  const end = await Promise.race([dying.died, allEvents(service, RUN_ID)])
  if (end === 'died') return 'died'
  await service.close({ drainTimeoutMs: 0 })
  return 'ended'
}

/** Returns the status, the outputs and the skips of a run. */
function resultOf(events: readonly LoggedRunEvent[]): object {
  const last = events.at(-1)
  if (last?.type !== 'run_result') throw new Error('The run has not ended')
  return {
    status: last.status,
    outputTask: last.outputTask,
    outputs: last.outputs.map(({ taskName }) => taskName),
    skips: events.flatMap((event) =>
      event.type === 'task_skipped' ? [`${event.taskName}: ${event.reason}`] : [],
    ),
  }
}

const NO_ALARM = [
  "alarm: Its condition is false: has(inputs.urgent) && inputs.urgent == 'yes'",
  'page: Task "alarm" was skipped',
]

const RESULT = {
  status: 'COMPLETED',
  outputTask: 'send',
  outputs: ['classify', 'fix', 'send'],
  skips: [...NO_ALARM, 'answer: Switch "route" chose task "fix"'],
}

describe('a run whose request has a switch', () => {
  it('[RUNS-CO1] [RUNS-R2] A run whose request has a switch continues after a crash at any commit', async () => {
    for (let commit = 1; ; commit += 1) {
      using directory = temporaryDirectory()
      if ((await serveUntil(directory.path, { commit, when: 'after' })) === 'ended') {
        expect(commit).toBeGreaterThan(1)
        return
      }
      const service = serve(await sqliteRunStorage(directory.path))
      await service.start()
      const events = await allEvents(service, RUN_ID)
      expect(resultOf(events), `died after commit ${commit}`).toEqual(RESULT)
      await service.close({ drainTimeoutMs: 0 })
    }
  })

  it('[RUNS-E3] A fork chooses by its own inputs what its parent had not chosen, and a replay chooses nothing', async () => {
    using directory = temporaryDirectory()
    const service = serve(await sqliteRunStorage(directory.path))
    await service.start()
    await service.submit({ ...REQUEST, runId: RUN_ID, inputs: { ticket: 'a crash' } })
    await allEvents(service, RUN_ID)
    const whole = await service.forks.create(RUN_ID, {
      at: 0,
      inputs: { ticket: 'a wish', urgent: 'yes' },
    })
    expect(resultOf(await allEvents(service, whole.runId))).toMatchObject({
      outputs: ['classify', 'alarm', 'page', 'answer', 'send'],
      skips: ["fix: Its condition is false: outputs.classify.kind == 'bug'"],
    })
    const late = await service.forks.create(RUN_ID, {
      at: { task: 'send' },
      inputs: { ticket: 'a wish', urgent: 'yes' },
    })
    expect(resultOf(await allEvents(service, late.runId))).toEqual(RESULT)
    const replay = await service.forks.replay(RUN_ID, { mode: 'frozen' })
    expect(resultOf(await allEvents(service, replay.runId))).toEqual(RESULT)
    await service.close({ drainTimeoutMs: 0 })
  })
})
