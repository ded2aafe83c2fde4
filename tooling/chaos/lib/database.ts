/** Access of the chaos test to the store, outside of the system. `dialects.ts` describes the kinds of stores. */
import { setTimeout as sleep } from 'node:timers/promises'

import { postgresDialect, type Dialect, type Row } from './dialects.ts'

/** A new owner of a run. */
export interface Transition {
  readonly runId: string
  /** Time in milliseconds since 1970. */
  readonly at: number
  readonly epoch: number
  readonly state: 'ready' | 'owned' | 'parked' | 'ended'
  /** Process that owns it; 0 for none. */
  readonly pid: number
  /** Sequence number of the newest event at that time. */
  readonly lastSeq: number
}

/** The slot of a run has changed. */
export interface SlotChange {
  readonly runId: string
  /** Whether the run was claimed. */
  readonly isClaim: boolean
  /** From 1; undefined if the run has none from now on. */
  readonly slot: number | undefined
}

/** A run when it was deleted. */
export interface DeletedRun {
  readonly runId: string
  readonly idempotencyKey: string
  readonly state: string
  /** Time in milliseconds since 1970. */
  readonly endedAt: number
  /** Number of ended runs that were stored afterwards. */
  readonly leftEnded: number
}

/** Maximum wait of a step for an unavailable database, in milliseconds. */
const PATIENCE_MS = 60_000

/** Tables with rows of runs. */
const TABLES_OF_RUNS = ['tasks', 'commands', 'reviews', 'deliveries', 'run_texts', 'thread_runs']

/** The database, seen from outside of the system. */
export class ChaosDatabase {
  readonly dialect: Dialect
  /** Row id of the last run that was stored before the test. */
  lastEarlierRun = 0

  /** Takes a dialect, or the URL of a database of Postgres. */
  constructor(store: Dialect | string) {
    this.dialect = typeof store === 'string' ? postgresDialect(store) : store
  }

  /** Installs the triggers; the system must have created its tables. */
  async takeNotes(): Promise<void> {
    await this.read(this.dialect.notes)
    const [row] = await this.read('SELECT coalesce(max(id), 0) AS id FROM tutti.runs')
    this.lastEarlierRun = Number(row?.['id'])
  }

  /** Ends all other connections. */
  async cutConnections(): Promise<void> {
    await this.read(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE datname = current_database() AND pid <> pg_backend_pid()`,
    )
  }

  /** Returns the number of runs by state. */
  async states(): Promise<ReadonlyMap<string, number>> {
    const rows = await this.read(
      `SELECT state, count(*) AS count FROM tutti.runs WHERE id > ${this.lastEarlierRun}
       GROUP BY state`,
    )
    return new Map(rows.map((row) => [String(row['state']), Number(row['count'])]))
  }

  /** Returns the owners of all runs, in order. */
  async transitions(): Promise<readonly Transition[]> {
    const rows = await this.read(
      'SELECT run_id, at, epoch, state, last_seq, owner FROM tutti.chaos_transitions ORDER BY id',
    )
    return rows.map((row) => ({
      runId: String(row['run_id']),
      at: Number(row['at']),
      epoch: Number(row['epoch']),
      // NOTE: the table allows only these states.
      state: row['state'] as Transition['state'],
      // The name of an owner contains the id of its process: tutti_PID_… or PID-…
      pid: Number(/\d+/.exec(String(row['owner']))?.[0] ?? 0),
      lastSeq: Number(row['last_seq']),
    }))
  }

  /** Returns the changes of the slots of all runs, in order. */
  async slots(): Promise<readonly SlotChange[]> {
    const rows = await this.read('SELECT run_id, is_claim, slot FROM tutti.chaos_slots ORDER BY id')
    return rows.map((row) => ({
      runId: String(row['run_id']),
      isClaim: row['is_claim'] === true,
      slot: row['slot'] === null ? undefined : Number(row['slot']),
    }))
  }

  /** Returns the runs that were deleted, in order. */
  async deleted(): Promise<readonly DeletedRun[]> {
    const rows = await this.read('SELECT * FROM tutti.chaos_deleted ORDER BY ended_at')
    return rows.map((row) => ({
      runId: String(row['run_id']),
      idempotencyKey: toKey(row['idempotency_key']),
      state: String(row['state']),
      endedAt: Number(row['ended_at']),
      leftEnded: Number(row['left_ended']),
    }))
  }

  /** Returns the tables that have rows of deleted runs. */
  async leftovers(): Promise<readonly string[]> {
    const { eventKey, stepRun, partlyDeleted } = this.dialect
    const tables = [
      ['events', `(SELECT ${eventKey} FROM tutti.events) AS e`],
      ['steps', `(SELECT ${stepRun} FROM tutti.steps) AS s`],
      ...TABLES_OF_RUNS.map((table) => [table, `tutti.${table}`]),
    ]
    const found = await Promise.all(
      tables.map(async ([name, table]) => {
        const rows = await this.read(
          `SELECT run FROM ${table} WHERE run NOT IN (SELECT id FROM tutti.runs)
             AND run NOT IN (${partlyDeleted}) LIMIT 1`,
        )
        return rows.length > 0 ? [`${name}`] : []
      }),
    )
    return found.flat()
  }

  /** Returns the ids of the deliveries to webhooks that have no outcome. */
  async openDeliveries(): Promise<readonly string[]> {
    const rows = await this.read(
      `SELECT run_id, seq FROM tutti.deliveries JOIN tutti.runs ON runs.id = deliveries.run
       WHERE outcome IS NULL`,
    )
    return rows.map((row) => `${String(row['run_id'])}:${String(row['seq'])}:chaos`)
  }

  /** Returns the rows of a query; repeats it while the database is unavailable. */
  async read(sql: string): Promise<readonly Row[]> {
    const until = performance.now() + PATIENCE_MS
    for (;;) {
      try {
        return await this.dialect.run(sql)
      } catch (error) {
        if (performance.now() > until || !this.dialect.isAway(error)) throw error
        await sleep(100)
      }
    }
  }
}

/** Reads an idempotency key, which the embedded store has as JSON. */
export function toKey(column: unknown): string {
  const text = String(column)
  return text.startsWith('"') ? String(JSON.parse(text)) : text
}
