/** Stores a write with all its effects. The caller holds a transaction. */
import { MAX_LOSSES_AFTER_STEP, SETTLED_AFTER_MS } from '../../../domain/suspects.ts'
import { runCompleted } from '../../../domain/refusals.ts'
import {
  computeWrite,
  findErasedRequest,
  listAnswers,
  listClosed,
  listDeliveries,
  listEvents,
  listOpened,
  listSteps,
  listTaskRows,
  toRunChanges,
  type ComputedWrite,
  type KnownWrite,
} from '../../shared/log/compute-write.ts'
import {
  encodeField,
  encodeRow,
  listColumnNames,
  toColumnName,
  type ColumnForm,
  type Columns,
} from '../../shared/schema/columns.ts'
import {
  REVIEW_COLUMNS,
  RUN_CHANGE_COLUMNS,
  TASK_COLUMNS,
} from '../../shared/schema/table-columns.ts'
import { prepareRowInserter, type RowInserter } from '../database/insert-rows.ts'
import { SECURE_DELETE } from '../database/open-database.ts'
import { NEW_TOKEN } from '../rows/run-rows.ts'
import { sqliteDialect } from '../schema/dialect.ts'
import { keySql } from '../schema/log-key.ts'

import type { StoreNotification } from '../../../ports/notifications.ts'
import type { SqliteStatements } from '../database/statements.ts'
import type { KnownRun } from '../../shared/log/owned-runs.ts'
import type { SqliteParts } from '../rows/parts.ts'

/** The effect of a write. */
export interface StoredWrite {
  readonly after: KnownRun
  /** Whether texts were removed; the write-ahead log still has copies of them. */
  readonly hasErased: boolean
  /** Notifications about stored answers and created deliveries. */
  readonly notifications: readonly StoreNotification[]
}

/** An accepted write. */
export interface StorableWrite extends KnownWrite {
  /** Whether the run was read in this transaction. Otherwise it may no longer be as it is known. */
  readonly isRead: boolean
}

/** Stores a write. Returns undefined, and stores nothing, if the run is no longer as it is known. */
export type WriteStorer = (write: StorableWrite) => StoredWrite | undefined

/** Inserts the rows of events and of steps: row id of the run, number, `type` or `seq`, data, bytes. */
export interface LogInserters {
  readonly events: RowInserter
  readonly steps: RowInserter
}

/** Prepares the insertion of events and steps. */
export function prepareLogInserters({ database }: Pick<SqliteParts, 'database'>): LogInserters {
  const prepare = (insert: string): RowInserter =>
    prepareRowInserter(database, insert, `(${keySql('?', '?')}, ?, ?, ?)`)
  return {
    events: prepare('INSERT INTO events (key, type, data, bytes)'),
    steps: prepare('INSERT INTO steps (key, seq, data, bytes)'),
  }
}

/** Prepares the statements and returns the function that stores writes. */
export function prepareWriteStorer(
  { database, statements }: Pick<SqliteParts, 'database' | 'statements'>,
  log: LogInserters,
): WriteStorer {
  return (storable) => {
    const computed = computeWrite(storable)
    const { after, hasEnded } = computed
    if (!updateRun(statements, computed, storable)) return undefined
    const notifications = storeAnswers(statements, computed)
    log.events(
      listEvents(computed).map(({ run, seq, type, data, bytes }) => [run, seq, type, data, bytes]),
    )
    storeReviews(statements, computed)
    storeTasks(statements, computed)
    const hasErased = hasEnded && eraseRequest({ database, statements }, computed)
    notifications.push(...storeDeliveries(statements, computed))
    log.steps(listSteps(computed).map(({ run, n, seq, data, bytes }) => [run, n, seq, data, bytes]))
    if (hasEnded) notifications.push(...endRun(statements, after))
    return { after, hasErased, notifications }
  }
}

/** Stores the answers to commands that have none. */
function storeAnswers(statements: SqliteStatements, computed: ComputedWrite): StoreNotification[] {
  return listAnswers(computed).flatMap(({ run, commandId, answer }): StoreNotification[] => {
    const stored = statements.count(
      'UPDATE commands SET answer = $1 WHERE command_id = $2 AND run = $3 AND answer IS NULL',
      [answer, commandId, run],
    )
    return stored === 0 ? [] : [{ kind: 'answer', commandId }]
  })
}

const INSERT_REVIEW = `${insertSql('reviews', REVIEW_COLUMNS)} ON CONFLICT DO NOTHING`

function storeReviews(statements: SqliteStatements, computed: ComputedWrite): void {
  for (const review of listOpened(computed)) {
    statements.run(INSERT_REVIEW, encodeRow(sqliteDialect.texts, REVIEW_COLUMNS, review))
  }
  for (const { run, reviewId, status, decidedBy, eventId } of listClosed(computed)) {
    statements.run(
      `UPDATE reviews SET status = $1, decided_by = $2, event_id = $3
       WHERE run = $4 AND review_id = $5 AND status = 'OPEN'`,
      [
        status,
        encodeField(sqliteDialect.texts, REVIEW_COLUMNS.decidedBy, decidedBy),
        encodeField(sqliteDialect.texts, 'id', eventId),
        run,
        reviewId,
      ],
    )
  }
}

const INSERT_TASK = insertSql('tasks', TASK_COLUMNS)

const { run: _, ...OWN_TASK_COLUMNS } = TASK_COLUMNS

const CHANGED_OF_TASK = Object.entries<ColumnForm>(OWN_TASK_COLUMNS)

function storeTasks(statements: SqliteStatements, computed: ComputedWrite): void {
  for (const task of listTaskRows(computed)) {
    const before = computed.known.tasks.get(task.taskIndex)
    if (before === undefined) {
      statements.run(INSERT_TASK, encodeRow(sqliteDialect.texts, TASK_COLUMNS, task))
      continue
    }
    const { run, taskIndex } = task
    const changed = listChanged(CHANGED_OF_TASK, before, task)
    if (changed.names.length === 0) continue
    statements.run(
      `UPDATE tasks SET ${changed.names.map(toAssignment).join(', ')}
       WHERE run = $${changed.names.length + 1} AND task_index = $${changed.names.length + 2}`,
      [...changed.values, run, taskIndex],
    )
  }
}

const CHANGED_OF_RUN = Object.entries<ColumnForm>({ ...RUN_CHANGE_COLUMNS, status: 'word' })

/**
 * Updates the columns that change: an unchanged one would write its indexes again. Returns whether the run was as it is
 * known: a command, a claim or another write may have changed it.
 */
function updateRun(
  statements: SqliteStatements,
  computed: ComputedWrite,
  { isRead }: Pick<StorableWrite, 'isRead'>,
): boolean {
  const { write, hasEnded } = computed
  const { row, prepared, wakes } = write
  const isOwned = row.state === 'owned'
  const before = { ...row.run, writeNo: row.writeNo, state: row.state, costUsd: null }
  const changed = listChanged(CHANGED_OF_RUN, before, toRunChanges(computed))
  const assignments = changed.names.map(toAssignment)
  if (!isOwned) assignments.push(`token = ${NEW_TOKEN}`)
  if (prepared.steps.length > 0) assignments.push(isOwned ? FORGIVE_LOSSES : 'lost_owners = 0')
  if (hasEnded) assignments.push('owner = NULL, due_at = NULL, ended_at = $now')
  else if (wakes) assignments.push('due_at = $now')
  const { id, token, run, writeNo, state } = row
  const known = isRead
    ? { id }
    : { id, token, lastSeq: run.lastSeq, writeNo, state, status: run.status }
  const conditions = Object.keys(known).map(
    (name, index) => `${toColumnName(name)} = $${changed.names.length + index + 1}`,
  )
  const updated = statements.count(
    `UPDATE runs SET ${assignments.join(', ')} WHERE ${conditions.join(' AND ')}`,
    [...changed.values, ...Object.values(known)],
  )
  return updated > 0
}

/** Losses of owners are forgotten when the run has made a step long after its claim, and otherwise limited. */
const FORGIVE_LOSSES = `lost_owners = CASE WHEN coalesce(claimed_at, 0) <= $now - ${SETTLED_AFTER_MS} THEN 0
  ELSE least(lost_owners, ${MAX_LOSSES_AFTER_STEP}) END`

/** Removes the prompts of a run that ends from its request; returns whether there were any. */
function eraseRequest(
  { database, statements }: Pick<SqliteParts, 'database' | 'statements'>,
  computed: ComputedWrite,
): boolean {
  const erased = findErasedRequest(computed)
  if (erased === undefined) return false
  // Freed pages are overwritten only now, because that costs further writes.
  database.exec('PRAGMA secure_delete = ON')
  statements.run('UPDATE requests SET request = $1 WHERE run = $2', [
    JSON.stringify(erased),
    computed.write.row.id,
  ])
  database.exec(SECURE_DELETE)
  return true
}

function storeDeliveries(
  statements: SqliteStatements,
  computed: ComputedWrite,
): readonly StoreNotification[] {
  const deliveries = listDeliveries(computed)
  for (const { run, seq, webhook } of deliveries) {
    statements.run('INSERT INTO deliveries (run, seq, webhook, due_at) VALUES ($1, $2, $3, $now)', [
      run,
      seq,
      sqliteDialect.texts.encode.text(webhook),
    ])
  }
  return deliveries.length === 0 ? [] : [{ kind: 'delivery' }]
}

/** Withdraws the open reviews of an ended run, and answers its pending commands. */
function endRun(
  statements: SqliteStatements,
  { row: { id, run } }: KnownRun,
): readonly StoreNotification[] {
  // Most runs have neither open reviews nor pending commands.
  const awaited = statements.run(
    `SELECT 1 WHERE EXISTS (SELECT 1 FROM reviews WHERE run = $1 AND +status = 'OPEN')
       OR EXISTS (SELECT 1 FROM commands WHERE run = $1 AND answer IS NULL)`,
    [id],
  )
  if (awaited.length === 0) return []
  statements.run(`UPDATE reviews SET status = 'WITHDRAWN' WHERE run = $1 AND +status = 'OPEN'`, [
    id,
  ])
  const refused = statements.run(
    `UPDATE commands
     SET answer = json_object('commandId', command_id, 'ok', json('false'), 'error', json($2))
     WHERE run = $1 AND answer IS NULL RETURNING command_id`,
    [id, JSON.stringify(runCompleted(run))],
  )
  return refused.map((row) => ({ kind: 'answer', commandId: String(row['command_id']) }))
}

function insertSql(table: string, columns: Columns): string {
  const names = listColumnNames(columns)
  const values = names.map((_, index) => `$${index + 1}`)
  return `INSERT INTO ${table} (${names.join(', ')}) VALUES (${values.join(', ')})`
}

function toAssignment(name: string, index: number): string {
  return `${name} = $${index + 1}`
}

/** Returns the columns whose fields differ, with their new values. */
function listChanged(
  columns: readonly (readonly [field: string, form: ColumnForm])[],
  before: Readonly<Record<string, unknown>>,
  after: Readonly<Record<string, unknown>>,
): { readonly names: readonly string[]; readonly values: readonly unknown[] } {
  const names: string[] = []
  const values: unknown[] = []
  for (const [field, form] of columns) {
    const value = after[field]
    if ((before[field] ?? null) === (value ?? null)) continue
    names.push(toColumnName(field))
    values.push(encodeField(sqliteDialect.texts, form, value))
  }
  return { names, values }
}
