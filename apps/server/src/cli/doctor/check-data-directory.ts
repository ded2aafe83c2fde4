/** Checks the directory of the embedded store and its free space, without changing existing files. */
import { errorMessage } from '@tutti/core/internal'
import { defaultRetainedRuns } from '@tutti/runs/internal'
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

import { findingsFor, type Finding } from '../../checks/finding.ts'

import type { TuttiConfig } from '../../config/config.ts'

const { ok, warning, problem } = findingsFor('data')

/** Facts that the check needs. */
export interface DataFacts {
  /** Newest schema version that this program supports; undefined when it could not be determined. */
  readonly knownVersion: number | undefined
  /** Whether a Tutti server already answers at the configured address. */
  readonly isServed: boolean
}

/** Checks that the directory is writable, that its store is usable, and how much space is free. */
export function checkDataDirectory(dataDir: string, facts: DataFacts): readonly Finding[] {
  const directory = resolve(dataDir)
  const existing = findExisting(directory)
  const writable = checkWritable(directory, existing)
  if (writable.level === 'problem') return [writable]
  return [writable, ...checkStore(directory, facts), checkDisk(freeBytes(existing), existing)]
}

/** Returns the directory, or its nearest ancestor that exists. */
function findExisting(directory: string): string {
  const above = dirname(directory)
  return existsSync(directory) || above === directory ? directory : findExisting(above)
}

function checkWritable(directory: string, existing: string): Finding {
  const advice = 'Choose another directory with TUTTI_DATA_DIR, or give this user write permission'
  if (!statSync(existing).isDirectory()) return problem(`"${existing}" is not a directory`, advice)
  try {
    // Permissions prove little: there are quotas, read-only file systems, and root.
    rmdirSync(mkdtempSync(join(existing, '.tutti-doctor-')))
  } catch (error) {
    return problem(`Cannot write to "${existing}": ${errorMessage(error)}`, advice)
  }
  return ok(directory === existing ? `${directory} is writable` : `${directory} can be created`)
}

function checkStore(directory: string, { knownVersion, isServed }: DataFacts): readonly Finding[] {
  const path = join(directory, 'runs.sqlite')
  if (!existsSync(path)) return []
  const version = readSchemaVersion(path)
  if (version === undefined) {
    return [
      problem(`"${path}" is not a SQLite database`, 'Restore it from a backup, or move it away'),
    ]
  }
  if (knownVersion !== undefined && version > knownVersion) {
    return [
      problem(
        `The store has schema version ${version}, this program supports versions up to ${knownVersion}`,
        'Use the version of Tutti that wrote it, or a newer one',
      ),
    ]
  }
  if (isLocked(join(directory, 'runs.lock'))) {
    if (isServed) return [ok('The store is in use by the running server')]
    const advice = 'Stop that process before you start a server on this directory'
    return [warning('The store is in use by another process', advice)]
  }
  const isOld = knownVersion !== undefined && version < knownVersion
  const then = isOld ? `; the next start migrates it to version ${knownVersion}` : ''
  return [
    ok(`The store has schema version ${version} and occupies ${formatStoreSize(path)}${then}`),
  ]
}

/** Returns the size of the store with its write-ahead log, in MiB. */
function formatStoreSize(path: string): string {
  const bytes = [path, `${path}-wal`].reduce(
    (sum, file) => sum + (statSync(file, { throwIfNoEntry: false })?.size ?? 0),
    0,
  )
  return `${Math.ceil(bytes / MIB).toLocaleString('en-US')} MiB`
}

/** Reports which ended runs are deleted from a store. `isShared`: whether processes can share it. */
export function checkRetention(
  { limits = {} }: Pick<TuttiConfig, 'limits'>,
  isShared: boolean,
): Finding {
  const { maxRetainedRuns = defaultRetainedRuns(isShared), maxRetainedAgeMs = Infinity } = limits
  const rules = [
    ...(maxRetainedRuns === Infinity ? [] : [`beyond the newest ${maxRetainedRuns}`]),
    ...(maxRetainedAgeMs === Infinity ? [] : [`after ${maxRetainedAgeMs} ms`]),
  ]
  if (rules.length === 0) return ok('Ended runs are retained without limit')
  return ok(`Ended runs are deleted ${rules.join(' and ')}`)
}

/** Text at the start of every SQLite file, and the offset of its `user_version`. @see https://www.sqlite.org/fileformat.html */
const MAGIC = 'SQLite format 3\0'
const VERSION_AT = 60
const HEADER_BYTES = 100

/**
 * Reads the schema version of a store from its header, as opening it would create files next to it. Returns undefined
 * for a file that is not a SQLite database.
 */
export function readSchemaVersion(path: string): number | undefined {
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

/** Whether a process holds the lock of the store; see `open-database.ts` of `@tutti/runs`. */
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

/** Free space below which writes are about to fail; a run with many tokens takes some MiB. */
const FULL_BYTES = 50 * MIB

/** Free space below which the operator should act. */
const LOW_BYTES = 500 * MIB

/** Rates the free space, in bytes. */
export function checkDisk(free: number, existing: string): Finding {
  const disk = findingsFor('disk')
  const message = `${Math.floor(free / MIB).toLocaleString('en-US')} MiB free at ${existing}`
  const advice =
    'Free some space, or retain fewer runs: limits.maxRetainedRuns, limits.maxRetainedAgeMs'
  if (free < FULL_BYTES) return disk.problem(message, advice)
  return free < LOW_BYTES ? disk.warning(message, advice) : disk.ok(message)
}

function freeBytes(existing: string): number {
  const { bavail, bsize } = statfsSync(existing)
  return bavail * bsize
}
