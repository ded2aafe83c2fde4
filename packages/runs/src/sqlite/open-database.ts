/**
 * Opens the file of the embedded store. One process at a time: a second one is refused. The lock is
 * one of the operating system, so it is free again as soon as its owner is gone, however it went.
 */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

import { errorMessage, TuttiError } from '@tutti/core'

import { migrate } from './migrations.ts'

/** An open database and the lock that keeps others out. */
export interface OpenDatabase {
  readonly database: DatabaseSync
  close(): void
}

/** When a commit is on disk; see `SqliteRunStorageOptions`. */
export type Synchronous = 'FULL' | 'NORMAL'

/**
 * Opens, or makes, the store in `directory`.
 *
 * @throws {TuttiError} STORE_LOCKED when another process has it open, SCHEMA_TOO_NEW when a newer
 * version has written it, STORE_UNAVAILABLE when the directory cannot be used.
 */
export function openDatabase(directory: string, synchronous: Synchronous): OpenDatabase {
  const lock = openLock(directory)
  try {
    const database = new DatabaseSync(join(directory, 'runs.sqlite'))
    // WAL: readers such as backups do not block it, and NORMAL loses the newest commits, never the file.
    database.exec(
      `PRAGMA journal_mode = WAL; PRAGMA synchronous = ${synchronous}; PRAGMA foreign_keys = ON`,
    )
    migrate(database)
    return {
      database,
      close() {
        database.close()
        lock.close()
      },
    }
  } catch (error) {
    lock.close()
    throw error
  }
}

function openLock(directory: string): DatabaseSync {
  try {
    mkdirSync(directory, { recursive: true })
    const lock = new DatabaseSync(join(directory, 'runs.lock'))
    lock.exec('PRAGMA busy_timeout = 0; PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE')
    return lock
  } catch (error) {
    if (/database is locked/.test(errorMessage(error))) {
      throw new TuttiError(
        'STORE_LOCKED',
        `Cannot open the run store in "${directory}": another process is using it. ` +
          'Stop that process, or choose another directory with TUTTI_DATA_DIR',
        { cause: error },
      )
    }
    throw new TuttiError(
      'STORE_UNAVAILABLE',
      `Cannot open the run store in "${directory}": ${errorMessage(error)}`,
      { cause: error },
    )
  }
}
