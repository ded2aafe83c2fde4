import { describe, expect, it } from 'vitest'

import { newRun } from '../../testing/support/run-fixtures.ts'
import { ODD_TEXT } from '../../testing/support/event-fixtures.ts'
import { postgresDialect } from '../postgres/schema/dialect.ts'
import { sqliteDialect } from '../sqlite/schema/dialect.ts'
import { ColumnReader } from './column-reader.ts'
import { readFields } from './read-fields.ts'
import { toNewRunRow } from './runs/new-run.ts'
import { encodeRow, listColumnNames, toColumnName, type Columns } from './schema/columns.ts'
import { RUN_COLUMNS, TASK_COLUMNS } from './schema/table-columns.ts'

/** Writes a record as a store does, and reads it back. */
function passThrough(
  { texts }: typeof sqliteDialect,
  columns: Columns,
  record: Readonly<Record<string, unknown>>,
) {
  const names = listColumnNames(columns)
  const values = encodeRow(texts, columns, record)
  const row = Object.fromEntries(names.map((name, index) => [name, values[index]]))
  return readFields(new ColumnReader(row), texts, columns)
}

describe.for([
  ['SQLite', sqliteDialect],
  ['Postgres', postgresDialect],
] as const)('columns in %s', ([, dialect]) => {
  it.for([
    [{}, {}],
    [{ webhooks: [] }, {}],
    [{ actor: '' }, { actor: '' }],
    [
      { request: {}, webhooks: ['a'] },
      { request: {}, webhooks: ['a'] },
    ],
  ] as const)('Columns of a submission with %j return %j', ([brought, fields]) => {
    const { submission: _, ...run } = newRun('run-a')
    const row = toNewRunRow({ ...run, ...brought })
    expect(passThrough(dialect, RUN_COLUMNS, row)).toEqual({ ...run, ...fields })
  })

  it('[RUNS-P21] Columns of a task return texts, numbers and times unchanged', () => {
    const task = {
      run: 1,
      taskIndex: 1,
      name: ODD_TEXT,
      description: '',
      agentRole: 'Player',
      status: 'RUNNING',
      attempt: 2,
      startedAt: 5,
      inputTokens: -1,
      outputTokens: Number.MAX_SAFE_INTEGER,
      toolCallCount: 0,
      costUsd: 0.25,
      output: ODD_TEXT,
      finishReason: 'STOP',
    }
    expect(passThrough(dialect, TASK_COLUMNS, task)).toEqual(task)
  })
})

it('A field is stored in the column of its name in snake case', () => {
  expect(['run', 'startedAt', 'earlierToolCallCount'].map(toColumnName)).toEqual([
    'run',
    'started_at',
    'earlier_tool_call_count',
  ])
})

it('[RUNS-P14] A damaged column is left out and named', () => {
  const columns = new ColumnReader({ tags: '{', attempt: 'x', started_at: null, name: '"a"' })
  const declared = {
    tags: 'an object',
    attempt: 'integer',
    startedAt: 'time',
    name: 'text',
  } as const
  expect(readFields(columns, sqliteDialect.texts, declared)).toEqual({ name: 'a' })
  expect(columns.unreadable.unreadable).toMatch(
    /^tags: .*; attempt: expected a safe integer, got x$/,
  )
})
