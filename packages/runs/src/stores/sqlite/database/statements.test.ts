import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'

import { fakeClock } from '@tutti/testing'
import { expect, it } from 'vitest'

import { createTransaction } from './transaction.ts'
import { SqliteStatements, toSqlite } from './statements.ts'

/** A database that does not bind values by position to numbered parameters, as that of Node 22.18. */
class OldDatabase extends DatabaseSync {
  override prepare(sql: string): StatementSync {
    const statement = super.prepare(sql)
    const { all, get } = statement
    statement.all = (...values) => all.apply(statement, toNamed(values))
    statement.get = (...values) => get.apply(statement, toNamed(values))
    return statement
  }
}

function toNamed([first]: readonly unknown[]): [Record<string, SQLInputValue>] {
  if (typeof first !== 'object') throw new RangeError('column index out of range')
  // NOTE: statements pass no other objects.
  return [first as Record<string, SQLInputValue>]
}

function open(Database = DatabaseSync) {
  const database = new Database(':memory:')
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

it.for([
  ['by position', DatabaseSync],
  ['by number', OldDatabase],
] as const)('A statement gets arrays, flags and the present as values %s', async ([, Database]) => {
  const { clock, statements } = open(Database)
  statements.run('INSERT INTO $schema.items (name, at) VALUES ($1, $now), ($2, $now + $3)', [
    'a',
    'b',
    5,
  ])
  await clock.advance(1)
  const sql =
    'SELECT name, at < $now AS is_past FROM $schema.items WHERE name = ANY($1::text[]) AND $3'
  expect(statements.run(sql, [['a', 'b'], 'unused', true])).toEqual([
    { name: 'a', is_past: 1n },
    { name: 'b', is_past: 0n },
  ])
  expect(statements.run(sql, [['a', 'b'], 'unused', false])).toEqual([])
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
