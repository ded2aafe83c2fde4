import { DatabaseSync } from 'node:sqlite'

import { expect, it } from 'vitest'

import { prepareRowInserter } from './insert-rows.ts'

it.each([0, 1, 15, 16, 17, 100])('A row inserter inserts %i rows in order', (count) => {
  using database = new DatabaseSync(':memory:')
  database.exec('CREATE TABLE notes (n INTEGER PRIMARY KEY, text TEXT)')
  const insert = prepareRowInserter(database, 'INSERT INTO notes (n, text)', '(?, ?)')
  const rows = Array.from({ length: count }, (_, n) => [n, `note ${n}`] as const)
  insert(rows)
  const stored = database.prepare('SELECT n, text FROM notes ORDER BY n').all()
  expect(stored.map(({ n, text }) => [n, text])).toEqual(rows)
})
