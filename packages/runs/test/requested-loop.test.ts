/** Runs with loops in their requests: to their end, as forks at a round, and as replays. */
import { ensemble, task } from '@tutti/ensemble'
import { createRunService, sqliteRunStorage } from '@tutti/runs'
import type { RequestedRun } from '@tutti/runs/adapter'
import { fakeClock, scriptedModel } from '@tutti/testing'
import { expect, it } from 'vitest'

import { until } from '../../../tooling/test-kit/wait.ts'
import { decide } from './commands.ts'
import { allEvents, openRuns, temporaryDirectory } from './waiting-ensemble.ts'

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

it('[RUNS-T30] After a restart, a person orders another round of a requested loop, and accepts it after a further restart', async () => {
  using directory = temporaryDirectory()
  const model = scriptedModel(({ messages }) => {
    const prompt = messages.map(({ content }) => content).join('\n')
    return /^Write .*/m.exec(prompt)?.[0] ?? '?'
  })
  const own = task({ name: 'own', description: 'Own' })
  const open = () =>
    openRuns(directory.path, [ensemble({ name: 'crew', tasks: [own], model })], {
      parkAfterMs: 20,
      pollMs: 50,
    })
  const findReview = async (service: Awaited<ReturnType<typeof open>>, text: string) => {
    const reviews = () => service.reviews.open({ runId: RUN_ID })
    const isOpen = ({ request }: Awaited<ReturnType<typeof reviews>>[number]) =>
      request.prompt?.includes(text) === true
    await until('the review is open', async () => (await reviews()).some(isOpen))
    await until('the run is parked', async () => (await service.status.load()).parked > 0)
    return (await reviews()).find(isOpen)?.reviewId ?? ''
  }
  const loop = { max: 1, onMax: 'review' } as const
  const tasks = [{ name: 'write', description: 'Write {round}, mind {feedback}', loop }]
  const first = await open()
  await first.submit({ tasks, runId: RUN_ID })
  const reviewId = await findReview(first, 'Write 1')
  await first.close({ drainTimeoutMs: 1_000 })

  const second = await open()
  await decide(second, reviewId, { action: 'REJECT', feedback: 'the rhyme' })
  const nextId = await findReview(second, 'Write 2, mind the rhyme')
  await second.close({ drainTimeoutMs: 1_000 })

  const third = await open()
  await decide(third, nextId, { action: 'CONTINUE' })
  expect(outputsOf(await allEvents(third, RUN_ID))).toEqual({
    write: 'Write 2, mind the rhyme',
    'write/1': 'Write 1, mind ',
    'write/2': 'Write 2, mind the rhyme',
  })
  expect(model.requests).toHaveLength(2)
  await third.close({ drainTimeoutMs: 0 })
})
