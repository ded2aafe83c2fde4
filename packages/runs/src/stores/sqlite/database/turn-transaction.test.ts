import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

import { afterEach, beforeEach, describe, expect, it } from 'vitest'

import { currentSource, workFor } from '../../../load/work-source.ts'
import { createTransaction, type Transaction } from './transaction.ts'
import { createTurnTransaction, type TurnTransaction } from './turn-transaction.ts'

let directory: string
let database: DatabaseSync
/** Another connection, which sees only committed data. */
let reader: DatabaseSync
let inTurn: TurnTransaction
/** Number of started transactions. */
let begun: number
/** Time that a transaction reads, in milliseconds. */
let time: number
/** Called before a transaction ends. */
let beforeCommit: () => void

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'tutti-turn-'))
  const path = join(directory, 'x.sqlite')
  database = new DatabaseSync(path)
  database.exec('PRAGMA journal_mode = WAL; CREATE TABLE names (name TEXT UNIQUE) STRICT')
  reader = new DatabaseSync(path)
  begun = 0
  time = 0
  beforeCommit = () => undefined
  const transaction = createTransaction(database)
  const watched: Transaction = (body) => {
    begun += 1
    return transaction(() => {
      const result = body()
      beforeCommit()
      return result
    })
  }
  inTurn = createTurnTransaction(database, watched, {
    source: currentSource,
    pause: 8,
    elapsed: () => time,
  })
})

afterEach(() => {
  reader.close()
  if (database.isOpen) database.close()
  rmSync(directory, { recursive: true })
})

function add(name: string): Promise<number> {
  return inTurn(() => {
    database.prepare('INSERT INTO names VALUES (?)').run(name)
    return Number(database.prepare('SELECT count(*) AS count FROM names').get()?.['count'])
  })
}

function addAndFail(name: string, error: Error): Promise<never> {
  return inTurn(() => {
    database.prepare('INSERT INTO names VALUES (?)').run(name)
    throw error
  })
}

function names(): readonly unknown[] {
  return reader
    .prepare('SELECT name FROM names ORDER BY rowid')
    .all()
    .map((row) => row['name'])
}

describe('a transaction of a turn', () => {
  it('[RUNS-U1] A transaction of a turn runs all bodies of a turn in order', async () => {
    const all = Promise.all([add('a'), add('b'), add('c')])
    expect([begun, names()]).toEqual([0, []])
    expect(await all).toEqual([1, 2, 3])
    expect([begun, names()]).toEqual([1, ['a', 'b', 'c']])
  })

  it('[RUNS-U1] A transaction of a turn runs later bodies in the next transaction', async () => {
    expect(await add('a')).toBe(1)
    expect(await Promise.all([add('b'), add('c')])).toEqual([2, 3])
    expect(begun).toBe(2)
  })

  it('[RUNS-U1] A transaction of a turn runs bodies that are added during the transaction in the next one', async () => {
    let later: Promise<number> | undefined
    await Promise.all([
      add('a'),
      inTurn(() => {
        later = add('c')
      }),
      add('b'),
    ])
    expect([begun, names()]).toEqual([1, ['a', 'b']])
    expect(await later).toBe(3)
    expect(begun).toBe(2)
  })

  it('[RUNS-U2] A transaction of a turn rolls back only the body that throws, alone or with others', async () => {
    const reason = new Error('refused')
    await expect(addAndFail('x', reason)).rejects.toBe(reason)
    expect(names()).toEqual([])
    const all = await Promise.allSettled([add('a'), addAndFail('b', reason), add('b'), add('b')])
    expect(all).toEqual([
      { status: 'fulfilled', value: 1 },
      { status: 'rejected', reason },
      { status: 'fulfilled', value: 2 },
      { status: 'rejected', reason: expect.objectContaining({ code: 'ERR_SQLITE_ERROR' }) },
    ])
    expect([begun, names()]).toEqual([6, ['a', 'b']])
  })

  it('[RUNS-U2] A transaction of a turn shares the transaction when a body throws before its first write', async () => {
    const reason = new Error('refused')
    const refused = inTurn(() => {
      throw reason
    })
    const all = await Promise.allSettled([add('a'), refused, add('b')])
    expect(all).toEqual([
      { status: 'fulfilled', value: 1 },
      { status: 'rejected', reason },
      { status: 'fulfilled', value: 2 },
    ])
    expect([begun, names()]).toEqual([1, ['a', 'b']])
  })

  it('[RUNS-U3] A transaction of a turn settles promises after the commit, also rejected ones', async () => {
    const seen: unknown[] = []
    const look = (): void => {
      seen.push(names())
    }
    await Promise.all([
      addAndFail('x', new Error('refused')).catch(look),
      add('a').then(look),
      add('b').then(look),
    ])
    expect(seen).toEqual([
      ['a', 'b'],
      ['a', 'b'],
      ['a', 'b'],
    ])
  })

  it('[RUNS-U4] A transaction of a turn runs each body separately when the commit fails', async () => {
    const wrong = new Error('the disk is full')
    beforeCommit = () => {
      const count = Number(database.prepare('SELECT count(*) AS count FROM names').get()?.['count'])
      if (count > 2) throw wrong
    }
    const all = await Promise.allSettled([add('a'), add('b'), add('c')])
    expect(all).toEqual([
      { status: 'fulfilled', value: 1 },
      { status: 'fulfilled', value: 2 },
      { status: 'rejected', reason: wrong },
    ])
    expect([begun, names()]).toEqual([4, ['a', 'b']])
  })

  it('[RUNS-U4] A transaction of a turn runs a refused body again when the body that caused the refusal is not stored', async () => {
    const wrong = new Error('the disk is full')
    const count = (): number =>
      Number(database.prepare('SELECT count(*) AS count FROM names').get()?.['count'])
    beforeCommit = () => {
      const first = database.prepare('SELECT name FROM names').get()
      if (first?.['name'] === 'big') throw wrong
    }
    const before = inTurn(() => count())
    const taken = add('big')
    const next = inTurn(() => {
      if (count() > 0) throw new Error('no room')
      database.prepare('INSERT INTO names VALUES (?)').run('small')
    })
    expect(await Promise.allSettled([before, taken, next])).toEqual([
      { status: 'fulfilled', value: 0 },
      { status: 'rejected', reason: wrong },
      { status: 'fulfilled', value: undefined },
    ])
    expect(names()).toEqual(['small'])
  })

  it('[RUNS-U4] A transaction of a turn runs the other bodies when one body ends the whole transaction', async () => {
    const reason = new Error('the disk is full')
    const ending = inTurn(() => {
      database.exec('ROLLBACK')
      throw reason
    })
    const all = await Promise.allSettled([add('a'), ending, add('b')])
    expect(all).toEqual([
      { status: 'fulfilled', value: 1 },
      { status: 'rejected', reason },
      { status: 'fulfilled', value: 2 },
    ])
    expect(names()).toEqual(['a', 'b'])
    expect(await add('c')).toBe(3)
  })

  it('[RUNS-U6] A transaction of a turn runs the rest some passes later when a transaction has taken long, in order', async () => {
    const slow = (name: string): Promise<number> =>
      inTurn(() => {
        time += 6
        database.prepare('INSERT INTO names VALUES (?)').run(name)
        return begun
      })
    const all = Promise.all(['a', 'b', 'c', 'd', 'e'].map(slow))
    const stored: number[] = []
    for (let pass = 0; pass < 10; pass += 1) {
      await new Promise(setImmediate)
      stored.push(names().length)
    }
    expect(stored).toEqual([2, 2, 2, 2, 2, 2, 2, 2, 4, 4])
    expect(await all).toEqual([1, 1, 2, 2, 3])
    expect(names()).toEqual(['a', 'b', 'c', 'd', 'e'])
  })

  it('[RUNS-U6] A transaction of a turn flushes all bodies at once, however many transactions they take', async () => {
    const slow = (name: string): Promise<unknown> =>
      inTurn(() => {
        time += 6
        database.prepare('INSERT INTO names VALUES (?)').run(name)
      })
    const all = Promise.allSettled(['a', 'a', 'b', 'c'].map(slow))
    inTurn.flush()
    expect(names()).toEqual(['a', 'b', 'c'])
    expect((await all).map(({ status }) => status)).toEqual([
      'fulfilled',
      'rejected',
      'fulfilled',
      'fulfilled',
    ])
  })

  it('[RUNS-U8] Later work of a turn joins the next transaction, and is flushed with it', async () => {
    const later = inTurn.later(() => {
      database.prepare('INSERT INTO names VALUES (?)').run('later')
    })
    await new Promise(setImmediate)
    expect(begun).toBe(0)
    await add('now')
    await later
    expect([begun, names()]).toEqual([1, ['now', 'later']])
    const last = inTurn.later(() => begun)
    inTurn.flush()
    expect(await last).toBe(2)
  })

  it('[RUNS-U8] Later work of a turn makes a transaction when no other work comes', async () => {
    expect(await inTurn.later(() => begun)).toBe(1)
  })

  it('[RUNS-U7] A transaction of a turn lets callers take turns', async () => {
    const [many, other] = [
      { key: 'many', connection: {} },
      { key: 'other', connection: {} },
    ]
    const all = [
      ...['m1', 'm2', 'm3'].map((name) => workFor(many, () => add(name))),
      workFor(other, () => add('o1')),
    ]
    await Promise.all(all)
    expect(names()).toEqual(['m1', 'o1', 'm2', 'm3'])
  })

  it('[RUNS-U5] A transaction of a turn flushes waiting bodies at once, and once', async () => {
    const all = Promise.all([add('a'), add('b')])
    inTurn.flush()
    expect(names()).toEqual(['a', 'b'])
    database.close()
    expect(await all).toEqual([1, 2])
    await new Promise(setImmediate)
    expect(begun).toBe(1)
  })

  it('[RUNS-U5] A transaction of a turn rejects bodies after the store was closed', async () => {
    database.close()
    const all = await Promise.allSettled([inTurn(() => 1), inTurn(() => 2)])
    expect(all.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  })
})
