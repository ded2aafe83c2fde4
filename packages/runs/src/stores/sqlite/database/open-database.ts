/**
 * Opens the file of the embedded store for one process at a time; a second process is refused. The operating system
 * holds the lock and releases it when the owner exits, even after a crash.
 */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

import { errorMessage, TuttiError } from '@tutti/core/basics'

import { migrateSqlite } from '../schema/migrations.ts'

/** An open database and the lock that excludes other processes. */
export interface OpenDatabase {
  readonly database: DatabaseSync
  close(): void
}

/** Durability of a commit; see `SqliteRunStorageOptions`. */
export type Synchronous = 'FULL' | 'NORMAL'

/**
 * Opens the store in `directory`, and creates it if it does not exist.
 *
 * @throws {TuttiError} STORE_LOCKED when another process has it open, SCHEMA_TOO_NEW when a newer
 * version has written it, STORE_UNAVAILABLE when the directory cannot be used.
 */
export function openDatabase(directory: string, synchronous: Synchronous): OpenDatabase {
  const lock = openLock(directory)
  try {
    const database = new DatabaseSync(join(directory, 'runs.sqlite'))
    // With WAL, readers such as backups do not block writers, and NORMAL can lose the newest commits but not the file.
    database.exec(
      `PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON; ${SECURE_DELETE}`,
    )
    // A migration that a power failure undoes is made again; the first commit of a run syncs it with its own writes.
    migrateSqlite(database)
    database.exec(`PRAGMA synchronous = ${synchronous}`)
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

/** Overwrites deleted values in the pages that a statement writes anyway (RUNS-J3). */
export const SECURE_DELETE = 'PRAGMA secure_delete = FAST'

/** File with the process id of the owner, for error messages. The lock itself is held by the operating system. */
const OWNER_FILE = 'runs.pid'

/** Describes the process that holds the lock. */
function describeOwner(directory: string): string {
  try {
    const pid = Number(readFileSync(join(directory, OWNER_FILE), 'utf8'))
    // In another container, the id may belong to another process, or to none.
    if (Number.isInteger(pid) && pid > 0 && process.kill(pid, 0)) return `process ${pid}`
  } catch {
    // The owner is unknown.
  }
  return 'another process'
}

/** Creates a directory and its parents. Node's recursive `mkdirSync` never returns for `/proc/x`. */
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
