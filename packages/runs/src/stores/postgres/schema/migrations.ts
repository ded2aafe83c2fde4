/**
 * The schema of the Postgres store, as numbered steps that only go forward.
 *
 * RUNS-D4 Processes that open a store at the same time migrate it once. A schema that is newer than the code is
 *    refused with SCHEMA_TOO_NEW and left unchanged.
 * RUNS-D6 Processes of the previous version write while the schema is migrated. A step gives new columns no default that
 *    is computed for each row; later writes fill them.
 */
import { systemClock, TuttiError } from '@tutti/core'
import { sleep } from '@tutti/core/internal'

import { isLockTimeout } from '../database/connection-errors.ts'
import { Database, LOCKS, type DatabaseSession } from '../database/database.ts'
import { INITIAL_SCHEMA } from './initial-schema.ts'

import type { ResolvedPostgresRunStorageOptions } from '../database/options.ts'

/** Maximum time that a process waits while another one migrates, and that one statement takes, in milliseconds. */
const MIGRATION_LIMIT_MS = 3_600_000

/** Maximum time that a step waits for a table before it lets the writers behind it continue, in milliseconds. */
const WRITERS_WAIT_MS = 300

/** A step that creates indexes by name, each on a table with columns, and drops those with `null`. */
export interface IndexStep {
  readonly indexes: Readonly<Record<string, string | null>>
}

/** A migration step: statements for one transaction, or changes of indexes, which run while other processes write. */
export type MigrationStep = string | IndexStep

/**
 * Step N migrates a schema of version N to version N + 1; `$schema` is its quoted name. A step that was released never
 * changes.
 */
export const POSTGRES_MIGRATIONS: readonly MigrationStep[] = [INITIAL_SCHEMA]

/**
 * Migrates the schema to the newest version. Of several concurrent processes, only one does it; the others wait. A new
 * schema is created in one transaction.
 *
 * @param steps @default {@link POSTGRES_MIGRATIONS}
 * @throws {TuttiError} SCHEMA_TOO_NEW when a newer release has written it.
 */
export async function migratePostgres(
  database: Database,
  settings: ResolvedPostgresRunStorageOptions,
  steps: readonly MigrationStep[] = POSTGRES_MIGRATIONS,
): Promise<void> {
  // Without pending steps, a database user who may only use the tables is sufficient.
  if ((await readVersion(database, steps.length)) === steps.length) return
  const { queryLimitMs: _, ...connection } = settings
  const admin = new Database({
    ...connection,
    // One that holds the lock, and one that creates indexes outside of its transaction.
    maxConnections: 2,
    limitMs: MIGRATION_LIMIT_MS,
    onLost: () => undefined,
  })
  try {
    for (let isDone = false; !isDone;) isDone = await migrateFurther(admin, steps)
  } finally {
    await admin.close()
  }
}

/** Creates the schema, or applies one step. Returns whether it then has the newest version. */
async function migrateFurther(admin: Database, steps: readonly MigrationStep[]): Promise<boolean> {
  let isBlocked = false
  const newest = steps.length
  try {
    const version = await admin.transaction({ waits: true }, async (session) => {
      const { schema } = session
      // A wait for the lock would hold a snapshot, for which the creation of an index would wait in turn.
      const [lock] = await session.query('SELECT pg_try_advisory_xact_lock($1, $2) AS is_free', [
        LOCKS.migrate,
        admin.lockKey,
      ])
      isBlocked = lock?.['is_free'] !== true
      if (isBlocked) return 0
      await session.query(`CREATE SCHEMA IF NOT EXISTS ${schema}`)
      await session.query(`CREATE TABLE IF NOT EXISTS ${schema}.schema_version (version integer)`)
      const before = await readVersion(session, newest)
      const isNew = before === 0
      const after = isNew ? newest : Math.min(before + 1, newest)
      for (const step of steps.slice(before, after)) {
        if (typeof step === 'string') {
          await applyStep(session, step, isNew).catch((error: unknown) => {
            isBlocked = isLockTimeout(error)
            throw error
          })
        } else {
          await changeIndexes(isNew ? session : admin, step, isNew)
        }
      }
      await session.query(`DELETE FROM ${schema}.schema_version`)
      await session.query(`INSERT INTO ${schema}.schema_version VALUES ($1)`, [after])
      return after
    })
    if (version === newest) return true
  } catch (error) {
    if (!isBlocked) throw error
  }
  // Another process migrates, or uses the table: writers that wait behind the step continue first.
  if (isBlocked) await sleep(systemClock, WRITERS_WAIT_MS)
  return false
}

async function applyStep(session: DatabaseSession, step: string, isNew: boolean): Promise<void> {
  if (!isNew) await session.query(`SET LOCAL lock_timeout = ${WRITERS_WAIT_MS}`)
  await session.query(step.replaceAll('$schema', () => session.schema))
}

/** Creates and drops indexes. In a schema in use, this blocks no writer. */
async function changeIndexes(
  session: DatabaseSession,
  { indexes }: IndexStep,
  isNew: boolean,
): Promise<void> {
  const { schema } = session
  const online = isNew ? '' : 'CONCURRENTLY'
  for (const [name, definition] of Object.entries(indexes)) {
    // An attempt that was interrupted leaves an index that is not valid.
    await session.query(`DROP INDEX ${online} IF EXISTS ${schema}.${name}`)
    if (definition === null) continue
    await session.query(`CREATE INDEX ${online} ${name} ON ${schema}.${definition}`)
  }
}

async function readVersion(session: DatabaseSession, newest: number): Promise<number> {
  const found = await session.query(`SELECT to_regclass($1) IS NOT NULL AS found`, [
    `${session.schema}.schema_version`,
  ])
  if (found[0]?.['found'] !== true) return 0
  const rows = await session.query(`SELECT version FROM ${session.schema}.schema_version`)
  const version = Number(rows[0]?.['version'] ?? 0)
  if (version <= newest) return version
  throw new TuttiError(
    'SCHEMA_TOO_NEW',
    `Cannot open the run store in Postgres: its schema has version ${version}, but this release supports at most ` +
      `version ${newest}. Use the release that wrote it or a newer one`,
  )
}
