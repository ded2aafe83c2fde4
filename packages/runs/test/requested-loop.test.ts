/** Runs with loops in their requests: to their end, as forks at a round, and as replays. */
import { ensemble, task } from '@tutti/ensemble'
import { createRunService, sqliteRunStorage } from '@tutti/runs'
import type { RequestedRun } from '@tutti/runs/adapter'
import { fakeClock, scriptedModel } from '@tutti/testing'
import { expect, it } from 'vitest'

import { allEvents, temporaryDirectory } from './waiting-ensemble.ts'

import type { LoggedRunEvent } from '@tutti/protocol'

const RUN_ID = 'run-1'

const REQUEST: RequestedRun = {
  tasks: [
    {
      name: 'write',
      description: 'Write line {round} in {tone}, mind {feedback}',
      loop: {
        max: 5,
        until: {
          judge: {
            description: 'Judge {output}',
            outputSchema: {
              type: 'object',
              properties: { done: { type: 'boolean' }, feedback: { type: 'string' } },
              required: ['done', 'feedback'],
            },
          },
        },
      },
    },
    {
      name: 'polish',
      description: 'Polish it, after {previous}',
      context: ['$write'],
      loop: { max: 5, until: "round == 2 && output.endsWith('!') && inputs.tone == 'prose'" },
    },
  ],
}

function outputsOf(events: readonly LoggedRunEvent[]): object {
  const last = events.at(-1)
  if (last?.type !== 'run_result') throw new Error('The run has not ended')
  return Object.fromEntries(last.outputs.map(({ taskName, output }) => [taskName, output]))
}

it('[RUNS-T30] [RUNS-CO5] [RUNS-E3] A requested loop ends by its judge or expression, is forked at a round, and is replayed', async () => {
  using directory = temporaryDirectory()
  const asked: string[] = []
  const model = scriptedModel(({ messages }) => {
    const prompt = messages.map(({ content }) => content).join('\n')
    const line = prompt.match(/^(?:Write|Judge|Polish) .*/gm)?.at(-1) ?? '?'
    asked.push(line)
    if (!line.startsWith('Judge')) return `${line}!`
    return line.includes('line 1')
      ? '{"done":false,"feedback":"more"}'
      : '{"done":true,"feedback":""}'
  })
  const template = ensemble({
    name: 'crew',
    tasks: [task({ name: 'own', description: 'Own' })],
    model,
  })
  const storage = await sqliteRunStorage(directory.path)
  const service = createRunService(storage, [template], { clock: fakeClock() })
  await service.start()
  await service.submit({ ...REQUEST, runId: RUN_ID, inputs: { tone: 'prose' } })
  const outputs = outputsOf(await allEvents(service, RUN_ID))
  expect(outputs).toMatchObject({
    write: 'Write line 2 in prose, mind more!',
    'write/1': 'Write line 1 in prose, mind !',
    polish: 'Polish it, after Polish it, after !!',
  })
  expect(Object.keys(outputs)).toEqual([
    'write',
    'polish',
    'write/1',
    'write/judge-1',
    'write/2',
    'write/judge-2',
    'polish/1',
    'polish/2',
  ])
  asked.length = 0
  const fork = await service.forks.create(RUN_ID, { at: { task: 'write/2' } })
  expect(outputsOf(await allEvents(service, fork.runId))).toEqual(outputs)
  expect(asked.map((line) => line.split(' ')[0])).toEqual(['Write', 'Judge', 'Polish', 'Polish'])
  asked.length = 0
  const replay = await service.forks.replay(RUN_ID, { mode: 'frozen' })
  expect(outputsOf(await allEvents(service, replay.runId))).toEqual(outputs)
  expect(asked).toEqual([])
  await service.close({ drainTimeoutMs: 0 })
})
