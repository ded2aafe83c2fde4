import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

import { afterEach, beforeEach, expect, it } from 'vitest'

import { modelCalled, toolCalled, toolEnded } from '../../testing/support/event-fixtures.ts'
import { ownedRun } from '../../testing/support/run-fixtures.ts'
import { sqliteRunStorage } from './run-storage.ts'

let directory: string

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'tutti-values-'))
})

afterEach(() => {
  rmSync(directory, { recursive: true })
})

it('[RUNS-K1] The file contains a text once that events and steps repeat', async () => {
  await using storage = await sqliteRunStorage(directory)
  const owner = await ownedRun(storage, 'run-a')
  const content = 'The page that the tool returned. '.repeat(50)
  const message = { role: 'tool', content, toolCalls: null, toolName: 'read' } as const
  await owner.commit([toolCalled({ toolResult: content })], { steps: [toolEnded(content)] })
  for (let turn = 0; turn < 5; turn += 1) await owner.commit([modelCalled([message])])
  using database = new DatabaseSync(join(directory, 'runs.sqlite'))
  const rows = database.prepare('SELECT data FROM events UNION ALL SELECT data FROM steps').all()
  expect(
    rows.map(({ data }) => data).filter((data) => String(data).includes(content)),
  ).toHaveLength(1)
})
