/**
 * The schema of the Postgres store, as numbered steps that only go forward.
 *
 * RUNS-D4 Processes that open a store at the same time migrate it once. A schema that is newer than the code is
 *    refused with SCHEMA_TOO_NEW and left unchanged.
 * RUNS-D6 Processes of the previous version write while the schema is migrated. A step gives new columns no default that
 *    is computed for each row; later writes fill them.
 */
import { sleep, systemClock, TuttiError } from '@tutti/core'

import { SUSPECT_DELAY_MS, SUSPECT_LOSSES } from '../execution/suspects.ts'
import { isLockTimeout } from './connection-errors.ts'
import { BUILD_SHARES, BUILD_TABLES } from './build-tables.ts'
import { CLAIM_CLASS, CLAIM_KEY, HELD, UNOWNED } from './claim-key-sql.ts'
import { OFFER_TABLES, OFFER_TOKENS } from './offer-tables.ts'
import { THREAD_TABLES } from './thread-tables.ts'
import { Database, LOCKS, type DatabaseSession } from './database.ts'
import { TOTALS_SCHEMA } from './totals-schema.ts'

import type { ResolvedPostgresRunStorageOptions } from './options.ts'

/** Maximum time that a process waits while another one migrates, and that one statement takes, in milliseconds. */
const MIGRATION_LIMIT_MS = 3_600_000

/** Time after which a step that waits for a table lets the writers behind it continue, in milliseconds. */
const WRITERS_WAIT_MS = 300

/** A step that creates indexes by name, each on a table with columns, and drops those with `null`. */
export interface IndexStep {
  readonly indexes: Readonly<Record<string, string | null>>
}

/** A step that changes many rows: a statement that changes some, repeated in new transactions until `changed` is 0. */
export interface RepeatedStep {
  readonly repeated: string
}

/** The time at which the status of a run changed: when its first open review opened, if it has one. */
export const CHANGED_AT = 'greatest(coalesce(completed_at, started_at, created_at), review_since)'

/**
 * Migration steps: statements for one transaction, changes of indexes, or repeated statements, which run while other
 * processes write. Step N migrates a schema of version N to version N + 1; `$schema` is its quoted name. A released step never changes.
 *
 * Instants and amounts are `double precision`, like JavaScript numbers. `due_at` is, for a ready run, the time since
 * which it waits; for a parked run, the time at which it becomes due; for an owned run of an earlier version, the end of
 * its lease. NULL means never.
 */
export const POSTGRES_MIGRATIONS: readonly (string | IndexStep | RepeatedStep)[] = [
  `
  CREATE TABLE $schema.runs (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    run_id text NOT NULL UNIQUE,
    ensemble text NOT NULL,
    workflow text NOT NULL,
    status text NOT NULL DEFAULT 'ACCEPTED',
    inputs text NOT NULL,
    tags text NOT NULL,
    tag_index text[] NOT NULL,
    task_count integer NOT NULL,
    completed_tasks integer NOT NULL DEFAULT 0,
    created_at double precision NOT NULL,
    started_at double precision,
    completed_at double precision,
    duration_ms double precision,
    error text,
    epoch integer NOT NULL DEFAULT 0,
    last_seq integer NOT NULL DEFAULT 0,
    next_step integer NOT NULL DEFAULT 0,
    write_no integer NOT NULL DEFAULT 0,
    state text NOT NULL DEFAULT 'ready' CHECK (state IN ('ready', 'owned', 'parked', 'ended')),
    owner text,
    lost_owners integer NOT NULL DEFAULT 0,
    due_at timestamptz DEFAULT clock_timestamp(),
    ended_at timestamptz,
    idempotency_key text UNIQUE,
    fingerprint text
  ) WITH (fillfactor = 70);
  CREATE INDEX runs_by_status ON $schema.runs (status, id);
  CREATE INDEX runs_by_tag ON $schema.runs USING gin (tag_index);
  CREATE INDEX runs_unended ON $schema.runs (state, due_at) WHERE state <> 'ended';
  CREATE INDEX runs_ended ON $schema.runs (ended_at, id) WHERE state = 'ended';

  CREATE TABLE $schema.tasks (
    run bigint NOT NULL REFERENCES $schema.runs (id) ON DELETE CASCADE,
    task_index integer NOT NULL,
    name text NOT NULL,
    description text NOT NULL,
    agent_role text NOT NULL,
    status text NOT NULL,
    attempt integer NOT NULL,
    started_at double precision,
    completed_at double precision,
    duration_ms double precision,
    input_tokens double precision NOT NULL,
    output_tokens double precision NOT NULL,
    tool_call_count double precision NOT NULL,
    cost_usd double precision,
    earlier_input_tokens double precision NOT NULL,
    earlier_output_tokens double precision NOT NULL,
    earlier_tool_call_count double precision NOT NULL,
    earlier_cost_usd double precision,
    output text,
    error text,
    PRIMARY KEY (run, task_index)
  );

  CREATE TABLE $schema.events (
    run bigint NOT NULL REFERENCES $schema.runs (id) ON DELETE CASCADE,
    seq integer NOT NULL,
    type text NOT NULL,
    data text NOT NULL,
    PRIMARY KEY (run, seq)
  );

  CREATE TABLE $schema.steps (
    run bigint NOT NULL REFERENCES $schema.runs (id) ON DELETE CASCADE,
    n integer NOT NULL,
    data text NOT NULL,
    PRIMARY KEY (run, n)
  );

  CREATE TABLE $schema.signals (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    signal_id text NOT NULL UNIQUE,
    run bigint NOT NULL REFERENCES $schema.runs (id) ON DELETE CASCADE,
    wish text NOT NULL,
    answer text
  );
  CREATE INDEX signals_by_run ON $schema.signals (run, id);

  CREATE TABLE $schema.reviews (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    run bigint NOT NULL REFERENCES $schema.runs (id) ON DELETE CASCADE,
    review_id text NOT NULL,
    status text NOT NULL,
    request text NOT NULL,
    opened_at double precision NOT NULL,
    expires_at double precision,
    decided_by text,
    UNIQUE (run, review_id)
  );
  CREATE INDEX reviews_by_review_id ON $schema.reviews (review_id);
  CREATE INDEX reviews_open ON $schema.reviews (id) WHERE status = 'OPEN';
  `,
  // The cost of a run is summed when it ends, so that counting many ended runs is fast. Existing runs have no actor, so
  // their cost is not needed.
  `
  ALTER TABLE $schema.runs
    ADD COLUMN request text, ADD COLUMN actor text, ADD COLUMN actor_index text,
    ADD COLUMN webhooks text, ADD COLUMN cost_usd double precision;
  CREATE INDEX runs_of_actor ON $schema.runs (actor_index, created_at)
    WHERE actor_index IS NOT NULL AND state <> 'ended';
  CREATE INDEX runs_spent ON $schema.runs (actor_index, created_at) INCLUDE (cost_usd)
    WHERE actor_index IS NOT NULL AND state = 'ended';

  CREATE TABLE $schema.deliveries (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    run bigint NOT NULL REFERENCES $schema.runs (id) ON DELETE CASCADE,
    seq integer NOT NULL,
    webhook text NOT NULL,
    due_at timestamptz DEFAULT clock_timestamp(),
    attempt integer NOT NULL DEFAULT 0,
    outcome text CHECK (outcome IN ('done', 'given_up')),
    reason text
  );
  CREATE INDEX deliveries_by_run ON $schema.deliveries (run, seq);
  CREATE INDEX deliveries_due ON $schema.deliveries (due_at, id) WHERE due_at IS NOT NULL;

  CREATE TABLE $schema.audit (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    run_id text,
    actor text NOT NULL,
    action text NOT NULL,
    data text NOT NULL
  );
  CREATE INDEX audit_by_run ON $schema.audit (run_id, id) WHERE run_id IS NOT NULL;
  CREATE INDEX audit_by_actor ON $schema.audit (actor, id);
  CREATE INDEX audit_by_action ON $schema.audit (action, id);
  `,
  // A separate table, because the text can be long and the row of a run is read often. For existing runs the text equals
  // that of `search-text.ts`, except for letters that the locale of the database does not know. Postgres JSON accepts
  // neither NUL nor half of a surrogate pair, so their escapes are replaced first.
  String.raw`
  CREATE TABLE $schema.run_texts (
    run bigint PRIMARY KEY REFERENCES $schema.runs (id) ON DELETE CASCADE,
    text text NOT NULL
  );
  INSERT INTO $schema.run_texts (run, text)
  SELECT id, coalesce(string_agg(upper(value), chr(1)), '')
  FROM $schema.runs LEFT JOIN LATERAL (
    SELECT value FROM unnest(ARRAY[tags, inputs]) AS texts, json_each_text(regexp_replace(texts,
      '(?<!\\)((?:\\\\)*)\\u(?:000[01]|d[89a-f][0-9a-f]{2})', '\1\\ufffd', 'g')::json)
  ) AS kept ON true
  GROUP BY id;
  `,
  // Random secrets by name, such as the one that signs tickets.
  `
  CREATE TABLE $schema.secrets (
    name text PRIMARY KEY,
    value text NOT NULL
  );
  `,
  // True while the owner of a run only waits for a person.
  `
  ALTER TABLE $schema.runs ADD COLUMN waiting boolean NOT NULL DEFAULT false;
  `,
  // Memories of tasks by scope, and reflections by the hash of the task's description.
  `
  CREATE TABLE $schema.memories (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    scope text NOT NULL,
    data text NOT NULL
  );
  CREATE INDEX memories_by_scope ON $schema.memories (scope, id);

  CREATE TABLE $schema.reflections (
    key text PRIMARY KEY,
    data text NOT NULL
  );
  `,
  `ALTER TABLE $schema.tasks ADD COLUMN finish_reason text;`,
  // The time at which a run was claimed, an index of suspects, and the key under which later requests find the
  // result of a run.
  `
  ALTER TABLE $schema.runs
    ADD COLUMN claimed_at timestamptz, ADD COLUMN cache_key text;
  CREATE INDEX runs_cached ON $schema.runs (cache_key, id) WHERE cache_key IS NOT NULL;
  CREATE INDEX runs_suspected ON $schema.runs (due_at) WHERE lost_owners > 0 AND state <> 'ended';
  `,
  // The fencing token of a run: random, and replaced by each claim and by each write to an unowned run. The default is
  // set after the column is added, because adding a column with a volatile default rewrites the table.
  `
  ALTER TABLE $schema.runs ADD COLUMN token uuid;
  ALTER TABLE $schema.runs ALTER COLUMN token SET DEFAULT gen_random_uuid();
  UPDATE $schema.runs SET token = gen_random_uuid() WHERE state <> 'ended';
  `,
  // The channels to notify: of the processes that follow a run (0: every run), and of the sender of a command. A process
  // writes its rows again when it polls, so they need not survive a crash.
  `
  CREATE UNLOGGED TABLE $schema.followers (
    run bigint NOT NULL,
    channel text NOT NULL,
    PRIMARY KEY (run, channel)
  );
  CREATE INDEX followers_by_channel ON $schema.followers (channel);
  ALTER TABLE $schema.signals ADD COLUMN reply_channel text;
  `,
  // Number of commands that were queued for a run.
  `ALTER TABLE $schema.runs ADD COLUMN commands integer NOT NULL DEFAULT 0;`,
  // Approximate size with the values of other events that the data refers to; NULL for data without references.
  `
  ALTER TABLE $schema.events ADD COLUMN bytes integer;
  ALTER TABLE $schema.steps ADD COLUMN bytes integer;
  `,
  // The grams of search texts, for new runs; see `grams.ts`.
  `ALTER TABLE $schema.run_texts ADD COLUMN grams int2[];`,
  {
    indexes: {
      run_texts_by_gram: 'run_texts USING gin (grams)',
      run_texts_not_indexed: 'run_texts (run) WHERE grams IS NULL',
      runs_by_upper_id: 'runs (upper(run_id COLLATE "C") COLLATE "C")',
      runs_by_ensemble: 'runs (ensemble, id)',
    },
  },
  // Runs whose events are still to be deleted. Without the foreign key, an event is stored without a look at its run,
  // which the statement has locked.
  `
  CREATE TABLE $schema.deleted_runs (
    run bigint PRIMARY KEY,
    last_seq integer NOT NULL
  );
  ALTER TABLE $schema.events DROP CONSTRAINT IF EXISTS events_run_fkey;
  `,
  // The lease of a process, for all of its runs; `due_at` of an owned run is NULL from now on. Slots are the limit of
  // running runs; see `slots.ts`. The expression in the index below is the class of a run; see `claim-sql.ts`.
  `
  CREATE TABLE $schema.leases (
    owner text PRIMARY KEY,
    expires_at timestamptz NOT NULL
  ) WITH (fillfactor = 50);
  CREATE TABLE $schema.slots (
    n bigint PRIMARY KEY,
    run bigint
  ) WITH (fillfactor = 50);
  CREATE INDEX slots_free ON $schema.slots (n) WHERE run IS NULL;
  ALTER TABLE $schema.runs ADD COLUMN slot bigint;
  CREATE FUNCTION $schema.free_slot() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    UPDATE $schema.slots SET run = NULL WHERE n = OLD.slot;
    NEW.slot := NULL;
    RETURN NEW;
  END $$;
  CREATE TRIGGER runs_free_slot BEFORE UPDATE ON $schema.runs FOR EACH ROW
    WHEN (OLD.slot IS NOT NULL AND (NEW.state <> 'owned' OR NEW.waiting))
    EXECUTE FUNCTION $schema.free_slot();
  UPDATE $schema.runs SET due_at = due_at + ${SUSPECT_DELAY_MS} * power(lost_owners - 1, 2) * interval '1 millisecond'
  WHERE state = 'ready' AND lost_owners >= ${SUSPECT_LOSSES};
  `,
  {
    indexes: {
      runs_due: `runs (ensemble, least(lost_owners, 2), due_at, id)
        WHERE state IN ('ready', 'parked') AND due_at IS NOT NULL`,
      runs_owned: `runs (owner) WHERE state = 'owned'`,
      runs_suspected: null,
    },
  },
  TOTALS_SCHEMA,
  {
    indexes: {
      runs_by_actor: 'runs (actor_index, created_at) WHERE actor_index IS NOT NULL',
      runs_of_actor: null,
      runs_spent: null,
    },
  },
  THREAD_TABLES,
  // The runs that a process can take on, by which it is chosen to be woken. Without an index, updates stay HOT.
  `ALTER TABLE $schema.leases ADD COLUMN free boolean NOT NULL DEFAULT false, ADD COLUMN ensembles text[];`,
  // The time at which the first of the open reviews of a run opened.
  `
  ALTER TABLE $schema.runs ADD COLUMN review_since double precision;
  CREATE FUNCTION $schema.set_review_since() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    UPDATE $schema.runs SET review_since = (
      SELECT min(opened_at) FROM $schema.reviews WHERE run = NEW.run AND status = 'OPEN')
    WHERE id = NEW.run;
    RETURN NULL;
  END $$;
  CREATE TRIGGER reviews_open AFTER INSERT ON $schema.reviews FOR EACH ROW
    WHEN (NEW.status = 'OPEN') EXECUTE FUNCTION $schema.set_review_since();
  CREATE TRIGGER reviews_changed AFTER UPDATE OF status ON $schema.reviews FOR EACH ROW
    WHEN (OLD.status <> NEW.status) EXECUTE FUNCTION $schema.set_review_since();

  CREATE FUNCTION $schema.fill_review_since() RETURNS integer LANGUAGE plpgsql AS $$
  DECLARE
    ids bigint[];
  BEGIN
    -- The reviews are read when the runs are locked, because every writer of a review locks its run.
    SELECT array_agg(id) INTO ids FROM (
      SELECT id FROM $schema.runs
      WHERE review_since IS NULL AND id IN (SELECT run FROM $schema.reviews WHERE status = 'OPEN')
      ORDER BY id LIMIT 1000 FOR UPDATE) AS locked;
    UPDATE $schema.runs SET review_since = (
      SELECT min(opened_at) FROM $schema.reviews WHERE run = runs.id AND status = 'OPEN')
    WHERE id = ANY(ids);
    RETURN coalesce(cardinality(ids), 0);
  END $$;
  `,
  { repeated: 'SELECT $schema.fill_review_since() AS changed' },
  `DROP FUNCTION $schema.fill_review_since;`,
  {
    indexes: {
      runs_by_change: `runs (ensemble, status, (${CHANGED_AT}), run_id COLLATE "C")`,
    },
  },
  // The last run up to which the search texts of earlier versions are indexed; see `fill-grams.ts`. Grams of three
  // characters only are replaced.
  `
  CREATE TABLE $schema.indexed_texts (up_to bigint NOT NULL);
  INSERT INTO $schema.indexed_texts VALUES (0);
  `,
  {
    repeated: `
      WITH changed AS (
        UPDATE $schema.run_texts SET grams = NULL
        WHERE run IN (SELECT run FROM $schema.run_texts WHERE grams IS NOT NULL LIMIT 5000) RETURNING run
      )
      SELECT count(*) AS changed FROM changed`,
  },
  // Sequence number of the event of a step; NULL in steps of earlier versions. Steps are retained after the end of their
  // run: `trimmed_steps` is the end and the id of the last run whose steps are deleted.
  `
  ALTER TABLE $schema.steps ADD COLUMN seq integer;
  CREATE TABLE $schema.trimmed_steps (ended_at timestamptz NOT NULL, run bigint NOT NULL);
  INSERT INTO $schema.trimmed_steps VALUES ('-infinity', 0);
  `,
  BUILD_TABLES,
  {
    indexes: {
      runs_claimable: `runs (${CLAIM_KEY}, least(lost_owners, 2), due_at, id) WHERE ${UNOWNED}`,
      runs_waiting_for_build: `runs (id) WHERE status = 'WAITING_FOR_BUILD'`,
      runs_due: null,
    },
  },
  // The run that a run was forked from, as JSON.
  `ALTER TABLE $schema.runs ADD COLUMN parent text;`,
  BUILD_SHARES,
  // Without the state, so that a condition on the owner cannot use the index of unfinished runs: a plan that was made
  // while few runs were owned reads all of them there.
  { indexes: { runs_by_owner: 'runs (owner) WHERE owner IS NOT NULL', runs_owned: null } },
  OFFER_TABLES,
  { indexes: { runs_waiting_for_build: `runs (${CLAIM_KEY}) WHERE ${HELD}` } },
  OFFER_TOKENS,
  // Finds the newest runs of an ensemble with a status, and so, status by status, those of the ensemble.
  { indexes: { runs_by_ensemble_status: 'runs (ensemble, status, id)', runs_by_ensemble: null } },
  // Runs that were claimed before come before those that were not.
  {
    indexes: {
      runs_by_turn: `runs (${CLAIM_KEY}, ${CLAIM_CLASS}, due_at, id) WHERE ${UNOWNED}`,
      runs_claimable: null,
    },
  },
  // The kind of a review, so that the reviews that people decide are found without reading the others.
  `ALTER TABLE $schema.reviews ADD COLUMN kind text NOT NULL DEFAULT 'TASK_OUTPUT';`,
  // The task whose output is that of the run.
  `ALTER TABLE $schema.runs ADD COLUMN output_task text;`,
]

/**
 * Migrates the schema to the newest version. Of several concurrent processes, only one does it; the others wait. A new
 * schema is created in one transaction.
 *
 * @throws {TuttiError} SCHEMA_TOO_NEW when a newer release has written it.
 */
export async function migratePostgres(
  database: Database,
  settings: ResolvedPostgresRunStorageOptions,
): Promise<void> {
  // Without pending steps, a database user who may only use the tables is sufficient.
  if ((await readVersion(database)) === POSTGRES_MIGRATIONS.length) return
  const { queryLimitMs: _, ...connection } = settings
  const admin = new Database({
    ...connection,
    // One that holds the lock, and one that creates indexes outside of its transaction.
    maxConnections: 2,
    limitMs: MIGRATION_LIMIT_MS,
    onLost: () => undefined,
  })
  try {
    for (let isDone = false; !isDone;) isDone = await migrateFurther(admin)
  } finally {
    await admin.close()
  }
}

/** Creates the schema, or applies one step. Returns whether it then has the newest version. */
async function migrateFurther(admin: Database): Promise<boolean> {
  let isBlocked = false
  const newest = POSTGRES_MIGRATIONS.length
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
      const before = await readVersion(session)
      const isNew = before === 0
      const after = isNew ? newest : Math.min(before + 1, newest)
      for (const step of POSTGRES_MIGRATIONS.slice(before, after)) {
        if (typeof step === 'string') {
          await applyStep(session, step, isNew).catch((error: unknown) => {
            isBlocked = isLockTimeout(error)
            throw error
          })
        } else if ('repeated' in step) {
          await repeatStep(isNew ? session : admin, step)
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

/** Executes the statement until it has changed everything. */
async function repeatStep(session: DatabaseSession, { repeated }: RepeatedStep): Promise<void> {
  const sql = repeated.replaceAll('$schema', () => session.schema)
  for (;;) {
    const [row] = await session.query(sql)
    if (Number(row?.['changed']) === 0) return
  }
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

async function readVersion(session: DatabaseSession): Promise<number> {
  const found = await session.query(`SELECT to_regclass($1) IS NOT NULL AS found`, [
    `${session.schema}.schema_version`,
  ])
  if (found[0]?.['found'] !== true) return 0
  const rows = await session.query(`SELECT version FROM ${session.schema}.schema_version`)
  const version = Number(rows[0]?.['version'] ?? 0)
  if (version <= POSTGRES_MIGRATIONS.length) return version
  throw new TuttiError(
    'SCHEMA_TOO_NEW',
    `Cannot open the run store in Postgres: its schema has version ${version}, but this release supports at most ` +
      `version ${POSTGRES_MIGRATIONS.length}. Use the release that wrote it or a newer one`,
  )
}
