import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterEach, beforeEach, expect, it } from 'vitest'

import { openDatabase, type Synchronous } from './open-database.ts'

/** Names of the levels in SQLite. */
const LEVELS = { NORMAL: 1, FULL: 2 } as const satisfies Record<Synchronous, number>

let directory: string

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'tutti-runs-'))
})

afterEach(() => {
  rmSync(directory, { recursive: true })
})

it.each(['FULL', 'NORMAL'] as const)(
  'A new database and an existing one commit with synchronous = %s after their migrations',
  (synchronous) => {
    for (let opened = 0; opened < 2; opened += 1) {
      const { database, close } = openDatabase(directory, synchronous)
      expect(database.prepare('PRAGMA synchronous').get()).toEqual({
        synchronous: LEVELS[synchronous],
      })
      close()
    }
  },
)
