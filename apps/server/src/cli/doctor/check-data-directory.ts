/** Whether the directory of the embedded store can be used, and has room. It changes nothing that is there. */
import { errorMessage } from '@tutti/core'
import {
  existsSync,
  mkdtempSync,
  openSync,
  readSync,
  closeSync,
  rmdirSync,
  statfsSync,
  statSync,
} from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

import { findingsOf, type Finding } from './finding.ts'

import type { TuttiConfig } from '../../config/config.ts'

const { ok, warning, problem } = findingsOf('data')

/** What the check has to know. */
export interface DataFacts {
  /** Newest version of the schema that this program knows; undefined when that could not be found out. */
  readonly knownVersion: number | undefined
  /** Whether a Tutti server answers at the address that this one would have. */
  readonly isServed: boolean
}

/** Checks the directory. */
export function checkDataDirectory(dataDir: string, facts: DataFacts): readonly Finding[] {
  const directory = resolve(dataDir)
  const place = nearest(directory)
  const writable = checkWritable(directory, place)
  if (writable.level === 'problem') return [writable]
  return [writable, ...checkStore(directory, facts), checkDisk(freeBytes(place), place)]
}

/** The directory, or the nearest one above it that is there. */
function nearest(directory: string): string {
  const above = dirname(directory)
  return existsSync(directory) || above === directory ? directory : nearest(above)
}

function checkWritable(directory: string, place: string): Finding {
  const advice = 'Choose another directory with TUTTI_DATA_DIR, or let this user write there'
  if (!statSync(place).isDirectory()) return problem(`"${place}" is no directory`, advice)
  try {
    // Permissions say little: there are quotas, file systems that are read-only, and root.
    rmdirSync(mkdtempSync(join(place, '.tutti-doctor-')))
  } catch (error) {
    return problem(`"${place}" cannot be written to: ${errorMessage(error)}`, advice)
  }
  return ok(directory === place ? `${directory} can be written to` : `${directory} can be made`)
}

function checkStore(directory: string, { knownVersion, isServed }: DataFacts): readonly Finding[] {
  const path = join(directory, 'runs.sqlite')
  if (!existsSync(path)) return []
  const version = schemaVersion(path)
  if (version === undefined) {
    return [
      problem(`"${path}" is no SQLite database`, 'Bring it back from a backup, or move it away'),
    ]
  }
  if (knownVersion !== undefined && version > knownVersion) {
    return [
      problem(
        `The store has schema version ${version}, this program knows up to ${knownVersion}`,
        'Use the program that wrote it or a newer one',
      ),
    ]
  }
  if (isLocked(join(directory, 'runs.lock'))) {
    const message = 'The store is in use by another process'
    if (isServed) return [ok(`${message}: the server that is running`)]
    return [warning(message, 'Stop that process before another one is started on this directory')]
  }
  const isOld = knownVersion !== undefined && version < knownVersion
  const then = isOld ? `; the next start brings it to version ${knownVersion}` : ''
  return [ok(`The store has schema version ${version} and takes ${sizeOf(path)}${then}`)]
}

/** Size of the store with its write-ahead log, for people. */
function sizeOf(path: string): string {
  const bytes = [path, `${path}-wal`].reduce(
    (sum, file) => sum + (statSync(file, { throwIfNoEntry: false })?.size ?? 0),
    0,
  )
  return `${Math.ceil(bytes / MIB).toLocaleString('en-US')} MiB`
}

/** Says which ended runs are deleted. */
export function checkRetention({ limits = {} }: Pick<TuttiConfig, 'limits'>): Finding {
  const { maxRetainedRuns = Infinity, maxRetainedAgeMs = Infinity } = limits
  const rules = [
    ...(maxRetainedRuns === Infinity ? [] : [`beyond the newest ${maxRetainedRuns}`]),
    ...(maxRetainedAgeMs === Infinity ? [] : [`after ${maxRetainedAgeMs} ms`]),
  ]
  if (rules.length === 0) return ok('Ended runs are retained without limit')
  return ok(`Ended runs are deleted ${rules.join(' and ')}`)
}

/** Text at the start of every SQLite file, and where its `user_version` is. @see https://www.sqlite.org/fileformat.html */
const MAGIC = 'SQLite format 3\0'
const VERSION_AT = 60
const HEADER_BYTES = 100

/** The schema version of a store, read from its header: opening it would leave files beside it. */
export function schemaVersion(path: string): number | undefined {
  const header = Buffer.alloc(HEADER_BYTES)
  const file = openSync(path, 'r')
  try {
    readSync(file, header, 0, HEADER_BYTES, 0)
  } finally {
    closeSync(file)
  }
  const isDatabase = header.toString('latin1', 0, MAGIC.length) === MAGIC
  return isDatabase ? header.readUInt32BE(VERSION_AT) : undefined
}

/** Whether a process has the lock of the store; see `open-database.ts` of `@tutti/runs`. */
function isLocked(path: string): boolean {
  if (!existsSync(path)) return false
  const lock = new DatabaseSync(path, { readOnly: true })
  try {
    lock.exec('PRAGMA busy_timeout = 0; SELECT 1 FROM sqlite_master')
    return false
  } catch (error) {
    if (/database is locked/.test(errorMessage(error))) return true
    throw error
  } finally {
    lock.close()
  }
}

const MIB = 1_048_576

/** Less than this and writes are about to fail; a run of many tokens takes some MiB. */
const FULL_BYTES = 50 * MIB

/** Less than this and somebody should look. */
const LOW_BYTES = 500 * MIB

/** Says what free space means. */
export function checkDisk(free: number, place: string): Finding {
  const disk = findingsOf('disk')
  const words = `${Math.floor(free / MIB).toLocaleString('en-US')} MiB are free at ${place}`
  const advice = 'Make room, or retain fewer runs: limits.maxRetainedRuns, limits.maxRetainedAgeMs'
  if (free < FULL_BYTES) return disk.problem(words, advice)
  return free < LOW_BYTES ? disk.warning(words, advice) : disk.ok(words)
}

function freeBytes(place: string): number {
  const { bavail, bsize } = statfsSync(place)
  return bavail * bsize
}
