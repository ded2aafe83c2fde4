/**
 * Opens the file of the embedded store. One process at a time: a second one is refused. The lock is
 * one of the operating system, so it is free again as soon as its owner is gone, however it went.
 */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

import { errorMessage, TuttiError } from '@tutti/core'

import { migrateSqlite } from './migrations.ts'

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
    migrateSqlite(database)
    writeFileSync(join(directory, OWNER_FILE), `${process.pid}\n`)
    return {
      database,
      close() {
        database.close()
        rmSync(join(directory, OWNER_FILE), { force: true })
        lock.close()
      },
    }
  } catch (error) {
    lock.close()
    throw error
  }
}

/** Names the owner of the lock, for people; the lock itself is that of the operating system. */
const OWNER_FILE = 'runs.pid'

/** The process that has the lock, as a message names it. */
function describeOwner(directory: string): string {
  try {
    const pid = Number(readFileSync(join(directory, OWNER_FILE), 'utf8'))
    // In another container the id stands for another process, or for none.
    if (Number.isInteger(pid) && pid > 0 && process.kill(pid, 0)) return `process ${pid}`
  } catch {
    // No owner is known.
  }
  return 'another process'
}

/** Makes a directory and those above it. The recursive `mkdirSync` of Node never returns for `/proc/x`. */
function makeDirectory(path: string): void {
  if (existsSync(path)) return
  if (dirname(path) !== path) makeDirectory(dirname(path))
  mkdirSync(path)
}

function openLock(directory: string): DatabaseSync {
  try {
    makeDirectory(resolve(directory))
    const lock = new DatabaseSync(join(directory, 'runs.lock'))
    lock.exec('PRAGMA busy_timeout = 0; PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE')
    return lock
  } catch (error) {
    if (/database is locked/.test(errorMessage(error))) {
      throw new TuttiError(
        'STORE_LOCKED',
        `Cannot open the run store in "${directory}": ${describeOwner(directory)} is using it. ` +
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
