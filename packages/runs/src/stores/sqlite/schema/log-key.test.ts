import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterEach, beforeEach, describe, expect, it } from 'vitest'

import { token } from '../../../testing/support/event-fixtures.ts'
import { ownedRun, readAll } from '../../../testing/support/run-fixtures.ts'
import { sqliteRunStorage } from '../run-storage.ts'

let directory: string

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'tutti-key-'))
})

afterEach(() => {
  rmSync(directory, { recursive: true })
})

describe('the key of an event', () => {
  it('The key of an event keeps a run apart from the next one, for every number that a reader asks for', async () => {
    await using storage = await sqliteRunStorage(directory)
    for (const runId of ['run-a', 'run-b'])
      await (await ownedRun(storage, runId)).commit([token('x')])
    for (const from of [2, 2 ** 32 - 1, 2 ** 32, 2 ** 33, Number.MAX_SAFE_INTEGER]) {
      const page = await storage.events.read({ runId: 'run-a', from, limit: 9 })
      expect(page).toEqual({ events: [], lastSeq: 1 })
    }
    expect((await readAll(storage, 'run-b')).map(({ id }) => id)).toEqual(['run-b:0', 'run-b:1'])
  })

  it('The key of an event leaves little of a page unused when an event has more than 1 KB', async () => {
    await (await sqliteRunStorage(directory))[Symbol.asyncDispose]()
    const path = join(directory, 'runs.sqlite')
    const empty = statSync(path).size
    const [runs, writes, bytes] = [5, 40, 1_500]
    {
      await using storage = await sqliteRunStorage(directory)
      const owners = []
      for (let run = 0; run < runs; run += 1) owners.push(await ownedRun(storage, `run-${run}`))
      for (let write = 0; write < writes; write += 1) {
        for (const owner of owners) await owner.commit([token(`${write} `.padEnd(bytes, 'x'))])
      }
    }
    // A key of two columns makes this 3.
    expect((statSync(path).size - empty) / (runs * writes * bytes)).toBeLessThan(1.6)
  })
})
