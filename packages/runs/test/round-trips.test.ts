/** The round trips to Postgres of a whole run, which bound its speed on any network. */
import { defineTool, Type } from '@tutti/core'
import { ensemble, task } from '@tutti/ensemble'
import { createRunService } from '@tutti/runs'
import { postgresRunStorage } from '@tutti/runs/postgres'
import { scriptedModel } from '@tutti/testing'
import { expect, it } from 'vitest'

import { recordStatements } from '../src/stores/postgres/testing/record-statements.ts'
import { ownDatabase } from './own-database.ts'

const database = ownDatabase()

/** Maximum number of round trips of a run with one tool call, from its submission to its end, with those of its reader. */
const MAX_TRIPS = 12

/** Number of runs before the measured ones. */
const WARM_UP_RUNS = 3

it('A run with one tool call takes few round trips, everything counted', async () => {
  const tool = defineTool({
    name: 'work',
    description: 'Work',
    input: Type.Object({}),
    execute: async () => 'worked',
  })
  const model = scriptedModel(({ messages }) =>
    messages.at(-1)?.role === 'tool' ? 'Done' : { toolCalls: [{ name: 'work', arguments: {} }] },
  )
  const team = ensemble({
    name: 'team',
    tasks: [task({ name: 'use', description: 'Use the tool', tools: [tool] })],
    model,
  })
  const service = createRunService(await postgresRunStorage({ connectionString: database.url }), [
    team,
  ])
  await service.start()
  const execute = async (): Promise<void> => {
    const { runId } = await service.submit({})
    for await (const events of service.follow({ runId, from: 0 })) expect(events).not.toEqual([])
  }
  for (let run = 0; run < WARM_UP_RUNS; run += 1) await execute()
  const counts = []
  for (let run = 0; run < WARM_UP_RUNS; run += 1) {
    const { statements, stop } = recordStatements()
    await execute()
    stop()
    counts.push(statements.length)
  }
  // A poll or a renewal may fall into one of them.
  expect(Math.min(...counts)).toBeLessThanOrEqual(MAX_TRIPS)
  await service.close({ drainTimeoutMs: 0 })
})
