import { expect, it } from 'vitest'

import { scriptedModel } from '../test/testing.ts'
import { run } from './run-once.ts'
import { task } from './definition/task.ts'

it('runs a text on a model', async () => {
  const model = scriptedModel(() => 'Tides rise and fall.')
  const { status, output } = await run(model, 'Explain {topic}', { inputs: { topic: 'tides' } })
  expect([status, output]).toEqual(['COMPLETED', 'Tides rise and fall.'])
  expect(JSON.stringify(model.requests[0]?.messages)).toContain('Explain tides')
})

it('runs several tasks in order', async () => {
  const find = task({ name: 'find', description: 'Find it' })
  const sum = task({ name: 'sum', description: 'Sum up', context: [find] })
  const result = await run(
    scriptedModel(() => 'done'),
    [find, sum],
  )
  expect(result.tasks.map(({ taskName }) => taskName)).toEqual(['find', 'sum'])
})

it('rejects an unknown option and a missing input', async () => {
  const model = scriptedModel(() => 'done')
  await expect(run(model, 'Explain {topic}')).rejects.toThrow('missing inputs: topic')
  await expect(run(model, 'Explain', { input: {} } as never)).rejects.toThrow('unknown option')
})
