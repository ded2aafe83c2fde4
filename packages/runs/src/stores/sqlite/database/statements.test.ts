import { DatabaseSync } from 'node:sqlite'

import { fakeClock } from '@tutti/testing'
import { expect, it } from 'vitest'

import { createTransaction } from './transaction.ts'
import { SqliteStatements, toSqlite } from './statements.ts'

function open() {
  const database = new DatabaseSync(':memory:')
  database.exec('CREATE TABLE items (id INTEGER PRIMARY KEY, name TEXT, at INTEGER) STRICT')
  const clock = fakeClock()
  return { clock, statements: new SqliteStatements(database, clock, createTransaction(database)) }
}

it.for([
  ['SELECT id FROM $schema.runs WHERE run_id = $1', 'SELECT id FROM runs WHERE run_id = ?1'],
  ['id < $2::int8 AND name = $1::text', 'id < ?2 AND name = ?1'],
  ['name = ANY($1::text[])', 'name IN (SELECT value FROM json_each(?1))'],
  ['least(a, b) < greatest(c, d)', 'min(a, b) < max(c, d)'],
])('The embedded store executes "%s" as "%s"', ([sql, translated]) => {
  expect(toSqlite(String(sql))).toBe(translated)
})

it('A statement gets arrays, flags and the present as values', async () => {
  const { clock, statements } = open()
  statements.run('INSERT INTO $schema.items (name, at) VALUES ($1, $now), ($2, $now + $3)', [
    'a',
    'b',
    5,
  ])
  await clock.advance(1)
  const sql =
    'SELECT name, at < $now AS is_past FROM $schema.items WHERE name = ANY($1::text[]) AND $2'
  expect(statements.run(sql, [['a', 'b'], true])).toEqual([
    { name: 'a', is_past: 1n },
    { name: 'b', is_past: 0n },
  ])
  expect(statements.run(sql, [['a', 'b'], false])).toEqual([])
})

it('Statements of one transaction are all executed, or none', async () => {
  const { statements } = open()
  const insert = 'INSERT INTO $schema.items (id) VALUES ($1)'
  await expect(
    statements.changeAll([
      [insert, 1],
      [insert, 1],
    ]),
  ).rejects.toThrow('UNIQUE')
  expect(statements.run('SELECT id FROM $schema.items')).toEqual([])
})
