import { expect, it } from 'vitest'

import { modelCalled, toolCalled, toolEnded } from '../../testing/support/event-fixtures.ts'
import { ownedRun, readAll } from '../../testing/support/run-fixtures.ts'
import { postgresRunStorage } from './index.ts'
import { ownDatabase } from '../../../test/own-database.ts'

const database = ownDatabase()

it('[RUNS-K1] The tables contain a text once that events and steps repeat', async () => {
  await using storage = await postgresRunStorage({
    connectionString: database.url,
    schema: 'values_once',
    maxConnections: 4,
  })
  const owner = await ownedRun(storage, 'run-a')
  const content = 'The page that the tool returned. '.repeat(50)
  const message = { role: 'tool', content, toolCalls: null, toolName: 'read' } as const
  await owner.commit([toolCalled({ toolResult: content })], { steps: [toolEnded(content)] })
  for (let turn = 0; turn < 5; turn += 1) await owner.commit([modelCalled([message])])
  const { rows } = await database.client.query(
    'SELECT data FROM values_once.events UNION ALL SELECT data FROM values_once.steps',
  )
  expect(rows.filter(({ data }) => String(data).includes(content))).toHaveLength(1)
  expect((await readAll(storage, 'run-a')).at(-1)).toMatchObject({ messages: [message] })
})
