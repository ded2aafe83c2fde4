/**
 * Schedules. `due_at` is in milliseconds since 1970 like all instants of the table, and compared with the clock of the
 * store; while a tick is claimed, it is the end of the claim. NULL means never. `queued` is a JSON array of ticks.
 */
import { clampCount } from '../query-numbers.ts'

import type {
  ClaimedTick,
  NewSchedule,
  ScheduleRecord,
  ScheduleStore,
  TickEnd,
} from '../../../ports/schedule-store.ts'
import type { StoredRow } from '../column-reader.ts'
import type { StoredTexts } from '../schema/columns.ts'
import type { StoreParts } from '../schema/dialect.ts'

const COLUMNS = `name, revision, source, state, actor, created_at, changed_at, next_tick, due_at, queued, data, last_run,
  problem`

type TableParts = Pick<StoreParts, 'dialect' | 'requests'>

/** Returns the schedules of a database. */
export function scheduleStore(parts: TableParts): ScheduleStore {
  return { ...savedSchedules(parts), ...dueSchedules(parts) }
}

type Saved = 'list' | 'get' | 'add' | 'replace' | 'delete'

/** Returns the methods that save and read schedules. */
function savedSchedules({
  dialect: { texts, millis },
  requests,
}: TableParts): Pick<ScheduleStore, Saved> {
  const now = millis('$now')
  const toId = texts.encode.id
  const toRow = (schedule: NewSchedule): readonly unknown[] => [
    toId(schedule.name),
    schedule.isConfigured ? 'config' : 'api',
    schedule.isPaused ? 'paused' : 'active',
    schedule.actor === undefined ? null : texts.encode.text(schedule.actor),
    schedule.nextTick ?? null,
    schedule.dueAt ?? null,
    encode(schedule.queued),
    encode(schedule.definition),
  ]
  const changes = createChange(requests)
  return {
    async list() {
      const rows = await requests.query(`SELECT ${COLUMNS} FROM $schema.schedules ORDER BY name`)
      return rows.map((row) => readSchedule(texts, row))
    },
    async get(name) {
      const [row] = await requests.query(
        `SELECT ${COLUMNS} FROM $schema.schedules WHERE name = $1`,
        [toId(name)],
      )
      return row === undefined ? undefined : readSchedule(texts, row)
    },
    add: (schedule, maxSchedules) =>
      changes(
        `INSERT INTO $schema.schedules
           (name, source, state, actor, next_tick, due_at, queued, data, created_at, changed_at)
         SELECT $1::text, $2::text, $3::text, $4::text, $5::float8, $6::float8, $7::text, $8::text,
           present.at, present.at
         FROM (SELECT ${now} AS at) AS present
         WHERE (SELECT count(*) FROM $schema.schedules)
           + (SELECT count(*) FROM $schema.schedules WHERE actor = $4::text) < $9::int8
         ON CONFLICT (name) DO NOTHING RETURNING name`,
        [...toRow(schedule), clampCount(maxSchedules)],
      ),
    replace: (schedule, revision) =>
      changes(
        `UPDATE $schema.schedules SET source = $2, state = $3, actor = $4, next_tick = $5::float8,
           due_at = $6::float8, queued = $7, data = $8, changed_at = ${now}, revision = revision + 1
         WHERE name = $1 AND revision = $9::int4 RETURNING name`,
        [...toRow(schedule), revision],
      ),
    delete: (name, revision) =>
      changes(
        'DELETE FROM $schema.schedules WHERE name = $1 AND revision = $2::int4 RETURNING name',
        [toId(name), revision],
      ),
  }
}

/** Returns the methods that find, claim and settle ticks. */
function dueSchedules({
  dialect: { texts, millis },
  requests,
}: TableParts): Omit<ScheduleStore, Saved> {
  const now = millis('$now')
  const toId = texts.encode.id
  const changes = createChange(requests)
  return {
    async findDue(limit) {
      const most = clampCount(limit)
      const rows = await requests.query(
        `SELECT ${COLUMNS}, ${now} AS now_ms FROM $schema.schedules
         WHERE due_at IS NOT NULL ORDER BY due_at, name LIMIT $1`,
        [most + 1],
      )
      const present = Number(rows[0]?.['now_ms'] ?? 0)
      const schedules = rows.map((row) => readSchedule(texts, row))
      const due = schedules.filter(({ dueAt = Infinity }) => dueAt <= present).slice(0, most)
      const next = schedules[due.length]
      const nextInMs = next === undefined ? Infinity : Math.max(0, (next.dueAt ?? 0) - present)
      return { schedules: due, nextInMs, now: present }
    },
    claim: ({ name, revision, nextTick, dueAt }: Omit<ClaimedTick, 'queued'>, claimMs) =>
      changes(
        `UPDATE $schema.schedules SET due_at = ${now} + $5::float8
         WHERE name = $1 AND revision = $2::int4 AND next_tick = $3::float8 AND due_at = $4::float8
           AND due_at <= ${now}
         RETURNING name`,
        [toId(name), revision, nextTick ?? null, dueAt ?? null, claimMs],
      ),
    settle: ({ name, revision, nextTick, queued }, end: TickEnd) =>
      changes(
        `UPDATE $schema.schedules SET next_tick = $4::float8, due_at = $5::float8,
           last_run = coalesce($6::text, last_run),
           problem = CASE WHEN $6::text IS NULL THEN coalesce($7::text, problem) ELSE $7::text END,
           queued = $8::text
         WHERE name = $1 AND revision = $2::int4 AND queued = $9::text
           AND coalesce(next_tick, -1) = coalesce($3::float8, -1)
         RETURNING name`,
        [
          toId(name),
          revision,
          nextTick ?? null,
          end.nextTick ?? null,
          end.dueAt ?? null,
          end.lastRun === undefined ? null : encode(end.lastRun),
          end.problem === undefined ? null : encode(end.problem),
          encode(end.queued),
          encode(queued),
        ],
      ),
  }
}

/** Returns a function that executes a statement and says whether it changed a row. */
function createChange(requests: TableParts['requests']) {
  return async (sql: string, values: readonly unknown[]): Promise<boolean> =>
    (await requests.query(sql, values)).length > 0
}

/** Returns JSON that every store can hold: each character outside of ASCII, and NUL, is escaped. */
function encode(value: unknown): string {
  return JSON.stringify(value).replaceAll(
    /[^\u0020-\u007e]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

function readSchedule(texts: StoredTexts, row: StoredRow): ScheduleRecord {
  const optional = (column: string) => row[column] ?? undefined
  const json = (column: string): unknown => JSON.parse(String(row[column]))
  // NOTE: casts at the boundary: stores only ever write values of the types that they read back.
  return {
    name: String(texts.id(String(row['name']))),
    revision: Number(row['revision']),
    definition: json('data') as ScheduleRecord['definition'],
    isConfigured: row['source'] === 'config',
    isPaused: row['state'] === 'paused',
    ...(optional('actor') === undefined ? {} : { actor: String(texts.text(String(row['actor']))) }),
    createdAt: Number(row['created_at']),
    changedAt: Number(row['changed_at']),
    ...(optional('next_tick') === undefined ? {} : { nextTick: Number(row['next_tick']) }),
    ...(optional('due_at') === undefined ? {} : { dueAt: Number(row['due_at']) }),
    queued: json('queued') as ScheduleRecord['queued'],
    ...(optional('last_run') === undefined
      ? {}
      : { lastRun: json('last_run') as NonNullable<ScheduleRecord['lastRun']> }),
    ...(optional('problem') === undefined
      ? {}
      : { problem: json('problem') as NonNullable<ScheduleRecord['problem']> }),
  }
}
