/**
 * The embedded store: SQLite through Node's own `node:sqlite`, one file, no service. All statements run
 * to their end before anything else happens in the process, so a transaction needs no lock of ours.
 */
import { TuttiError } from '@tutti/core'
import { TERMINAL_RUN_STATUSES } from '@tutti/protocol'

import { changesOf } from '../changes.ts'
import { changeApplier, type ApplyChange } from './apply-changes.ts'
import { openDatabase, type OpenDatabase } from './open-database.ts'
import { toRun, toTask, type Row } from './rows.ts'

import type {
  ClaimedRun,
  EventLog,
  EventQuery,
  RunPage,
  RunQuery,
  RunStorage,
  RunStore,
  RunWrite,
  WriteResult,
} from '../ports/run-store.ts'
import type { NewRun, RunRecord, TaskRecord } from '../run-record.ts'
import type { RunStep } from '@tutti/ensemble'
import type { LoggedRunEvent, RunEvent } from '@tutti/protocol'
import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'

/**
 * Opens, or makes, the embedded store in `directory`.
 *
 * @throws {TuttiError} STORE_LOCKED, SCHEMA_TOO_NEW or STORE_UNAVAILABLE, see the message.
 */
export function sqliteRunStorage(directory: string): RunStorage {
  const opened: OpenDatabase = openDatabase(directory)
  const store = new SqliteRunStore(opened.database)
  return {
    runs: store,
    events: store,
    [Symbol.asyncDispose]() {
      opened.close()
      return Promise.resolve()
    },
  }
}

class SqliteRunStore implements RunStore, EventLog {
  readonly #database: DatabaseSync
  readonly #statements: Statements
  readonly #applyChange: ApplyChange

  constructor(database: DatabaseSync) {
    this.#database = database
    this.#statements = prepareStatements(database)
    this.#applyChange = changeApplier(database)
  }

  async create(run: NewRun, firstEvent: RunEvent): Promise<LoggedRunEvent> {
    if (this.#statements.run.get(run.runId) !== undefined) {
      throw new TuttiError('RUN_EXISTS', `A run with ID ${run.runId} already exists`)
    }
    const [event] = this.#transaction(() => {
      const { lastInsertRowid } = this.#statements.insertRun.run(
        run.runId,
        run.ensemble,
        run.workflow,
        JSON.stringify(run.inputs),
        JSON.stringify(run.tags),
        run.taskCount,
        run.createdAt,
      )
      return this.#append({ id: Number(lastInsertRowid), runId: run.runId, seq: 0 }, [firstEvent])
    })
    if (event === undefined)
      throw new TuttiError('STORE_UNAVAILABLE', 'The first event was not kept')
    return event
  }

  async claim(runId: string): Promise<ClaimedRun | undefined> {
    const { changes } = this.#statements.claim.run(runId)
    if (changes === 0) return undefined
    const run = await this.get(runId)
    return run === undefined ? undefined : { run, steps: await this.steps(runId) }
  }

  async commit(writes: readonly RunWrite[]): Promise<readonly WriteResult[]> {
    try {
      return this.#transaction(() => writes.map((write) => this.#write(write)))
    } catch (error) {
      if (writes.length === 1) return [{ kind: 'failed', error }]
      return writes.map((write) => this.#writeAlone(write))
    }
  }

  async get(runId: string): Promise<RunRecord | undefined> {
    const row = this.#statements.run.get(runId)
    return row === undefined ? undefined : toRun(row)
  }

  async tasks(runId: string): Promise<readonly TaskRecord[]> {
    return this.#statements.tasks.all(runId).map(toTask)
  }

  async steps(runId: string): Promise<readonly RunStep[]> {
    // NOTE: a cast at the boundary: this store only ever writes steps.
    return this.#statements.steps
      .all(runId)
      .map((row) => JSON.parse(String(row['data'])) as RunStep)
  }

  async list(query: RunQuery): Promise<RunPage> {
    const { where, values } = filterOf(query)
    const counted = this.#database.prepare(`SELECT count(*) AS total FROM runs ${where}`)
    const page = this.#database.prepare(
      `SELECT * FROM runs ${where} ORDER BY id DESC LIMIT ? OFFSET ?`,
    )
    return {
      runs: page.all(...values, query.limit, query.offset).map(toRun),
      total: Number(counted.get(...values)?.['total']),
    }
  }

  async unfinished(): Promise<readonly string[]> {
    return this.#statements.unfinished.all().map((row) => String(row['run_id']))
  }

  async read({ runId, from, limit, types }: EventQuery): Promise<readonly LoggedRunEvent[]> {
    const wanted = types === undefined ? null : JSON.stringify(types)
    const rows = this.#statements.events.all({ runId, from, limit, wanted })
    return rows.map((row) => toEvent(runId, row))
  }

  #writeAlone(write: RunWrite): WriteResult {
    try {
      return this.#transaction(() => this.#write(write))
    } catch (error) {
      return { kind: 'failed', error }
    }
  }

  #write({ runId, epoch, events, steps }: RunWrite): WriteResult {
    const owned = this.#statements.owned.get(runId, epoch)
    if (owned === undefined) return { kind: 'fenced' }
    const at = { id: Number(owned['id']), runId, seq: Number(owned['last_seq']) + 1 }
    this.#keepSteps(at.id, { events, steps })
    return { kind: 'written', events: this.#append(at, events) }
  }

  /** Adds steps; a run that ends needs none any more. */
  #keepSteps(id: number, { events, steps }: Pick<RunWrite, 'events' | 'steps'>): void {
    if (events.some(({ type }) => type === 'run_result')) this.#statements.deleteSteps.run(id)
    else for (const step of steps) this.#statements.insertStep.run(id, JSON.stringify(step), id)
  }

  /** Writes events from `seq` on, and what follows from them; the caller holds a transaction. */
  #append(
    { id, runId, seq }: { readonly id: number; readonly runId: string; readonly seq: number },
    events: readonly RunEvent[],
  ): readonly LoggedRunEvent[] {
    for (const [index, event] of events.entries()) {
      this.#statements.insertEvent.run(id, seq + index, event.type, JSON.stringify(event))
      for (const change of changesOf(event)) this.#applyChange(id, change)
    }
    this.#statements.setLastSeq.run(seq + events.length - 1, id)
    return events.map((event, index) => logged(runId, seq + index, event))
  }

  /** Ends a transaction that failed; some failures, such as a full disk, have ended it already. */
  #rollBack(): void {
    try {
      this.#database.exec('ROLLBACK')
    } catch {
      // Nothing is left to roll back.
    }
  }

  #transaction<T>(body: () => T): T {
    this.#database.exec('BEGIN IMMEDIATE')
    try {
      const result = body()
      this.#database.exec('COMMIT')
      return result
    } catch (error) {
      this.#rollBack()
      throw error
    }
  }
}

const TERMINAL = TERMINAL_RUN_STATUSES.map((status) => `'${status}'`).join(', ')

type Statements = ReturnType<typeof prepareStatements>

function prepareStatements(database: DatabaseSync) {
  const prepare = (sql: string): StatementSync => database.prepare(sql)
  return {
    run: prepare('SELECT * FROM runs WHERE run_id = ?'),
    tasks: prepare(
      'SELECT tasks.* FROM tasks JOIN runs ON runs.id = run WHERE run_id = ? ORDER BY task_index',
    ),
    insertRun: prepare(
      `INSERT INTO runs (run_id, ensemble, workflow, status, inputs, tags, task_count, created_at)
       VALUES (?, ?, ?, 'ACCEPTED', ?, ?, ?, ?)`,
    ),
    claim: prepare(
      `UPDATE runs SET epoch = epoch + 1 WHERE run_id = ? AND status NOT IN (${TERMINAL})`,
    ),
    owned: prepare('SELECT id, last_seq FROM runs WHERE run_id = ? AND epoch = ?'),
    insertEvent: prepare('INSERT INTO events (run, seq, type, data) VALUES (?, ?, ?, ?)'),
    insertStep: prepare(
      `INSERT INTO steps (run, n, data)
       SELECT ?, coalesce(max(n), -1) + 1, ? FROM steps WHERE run = ?`,
    ),
    steps: prepare('SELECT data FROM steps JOIN runs ON runs.id = run WHERE run_id = ? ORDER BY n'),
    deleteSteps: prepare('DELETE FROM steps WHERE run = ?'),
    setLastSeq: prepare('UPDATE runs SET last_seq = ? WHERE id = ?'),
    unfinished: prepare(`SELECT run_id FROM runs WHERE status NOT IN (${TERMINAL}) ORDER BY id`),
    events: prepare(
      `SELECT seq, data FROM events JOIN runs ON runs.id = run
       WHERE run_id = $runId AND seq >= $from
         AND ($wanted IS NULL OR type IN (SELECT value FROM json_each($wanted)))
       ORDER BY seq LIMIT $limit`,
    ),
  }
}

function filterOf({ statuses, tag }: RunQuery): {
  readonly where: string
  readonly values: readonly SQLInputValue[]
} {
  const conditions: string[] = []
  const values: SQLInputValue[] = []
  if (statuses !== undefined) {
    conditions.push(`status IN (${statuses.map(() => '?').join(', ')})`)
    values.push(...statuses)
  }
  if (tag !== undefined) {
    const value = tag.value === undefined ? '' : 'AND value = ?'
    conditions.push(`EXISTS (SELECT 1 FROM json_each(tags) WHERE key = ? ${value})`)
    values.push(tag.key, ...(tag.value === undefined ? [] : [tag.value]))
  }
  return { where: conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`, values }
}

function toEvent(runId: string, row: Row): LoggedRunEvent {
  // NOTE: a cast at the boundary: this store only ever writes events.
  const event = JSON.parse(String(row['data'])) as RunEvent
  return logged(runId, Number(row['seq']), event)
}

function logged(runId: string, seq: number, event: RunEvent): LoggedRunEvent {
  return { ...event, runId, seq, id: `${runId}:${seq}` }
}
