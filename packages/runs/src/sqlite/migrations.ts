/** The schema of the embedded store, as numbered steps that only go forward. */
import { TuttiError } from '@tutti/core'

import { toSearchText } from '../search-text.ts'

import type { DatabaseSync } from 'node:sqlite'

/** Step N brings a database of version N to version N + 1. A step that was released never changes. */
export const SQLITE_MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE runs (
    id INTEGER PRIMARY KEY,
    run_id TEXT NOT NULL UNIQUE,
    ensemble TEXT NOT NULL,
    workflow TEXT NOT NULL,
    status TEXT NOT NULL,
    inputs TEXT NOT NULL,
    tags TEXT NOT NULL,
    task_count INTEGER NOT NULL,
    completed_tasks INTEGER NOT NULL DEFAULT 0,
    created_at INTEGER NOT NULL,
    started_at INTEGER,
    completed_at INTEGER,
    duration_ms INTEGER,
    error TEXT,
    epoch INTEGER NOT NULL DEFAULT 0,
    last_seq INTEGER NOT NULL DEFAULT -1
  ) STRICT;
  CREATE INDEX runs_by_status ON runs (status, id);

  CREATE TABLE tasks (
    run INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    task_index INTEGER NOT NULL,
    name TEXT NOT NULL,
    description TEXT NOT NULL,
    agent_role TEXT NOT NULL,
    status TEXT NOT NULL DEFAULT 'PENDING',
    attempt INTEGER NOT NULL DEFAULT 0,
    started_at INTEGER,
    completed_at INTEGER,
    duration_ms INTEGER,
    input_tokens INTEGER NOT NULL DEFAULT 0,
    output_tokens INTEGER NOT NULL DEFAULT 0,
    tool_call_count INTEGER NOT NULL DEFAULT 0,
    output TEXT,
    error TEXT,
    PRIMARY KEY (run, task_index)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE events (
    run INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    seq INTEGER NOT NULL,
    type TEXT NOT NULL,
    data TEXT NOT NULL,
    PRIMARY KEY (run, seq)
  ) STRICT, WITHOUT ROWID;
  `,
  // Runs in flight get the steps that follow from their events. JSON goes from column to column as it
  // is, so that no text is changed. A task that began a second attempt was cut off in the one before.
  `
  CREATE TABLE steps (
    run INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    n INTEGER NOT NULL,
    data TEXT NOT NULL,
    PRIMARY KEY (run, n)
  ) STRICT, WITHOUT ROWID;

  ALTER TABLE tasks ADD COLUMN cost_usd REAL DEFAULT 0;
  ALTER TABLE tasks ADD COLUMN earlier_cost_usd REAL DEFAULT 0;
  ALTER TABLE tasks ADD COLUMN earlier_input_tokens INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE tasks ADD COLUMN earlier_output_tokens INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE tasks ADD COLUMN earlier_tool_call_count INTEGER NOT NULL DEFAULT 0;
  UPDATE tasks SET cost_usd = NULL WHERE attempt > 0;

  INSERT INTO steps (run, n, data)
  SELECT run, row_number() OVER (PARTITION BY run ORDER BY seq) - 1, CASE
    WHEN type = 'ensemble_started'
      THEN json_object('kind', 'run_begun', 'runMs', 0, 'startedAt', started_at)
    WHEN type = 'run_cancelling'
      THEN json_object('kind', 'cancel_asked', 'runMs', 0, 'mode', data -> '$.mode')
    WHEN type = 'task_skipped'
      THEN json_object('kind', 'task_skipped', 'runMs', 0, 'taskName', data -> '$.taskName')
    WHEN type = 'task_started' AND data ->> '$.attempt' = 1
      THEN json_object('kind', 'task_begun', 'runMs', 0, 'taskMs', 0,
        'taskName', data -> '$.taskName', 'attempt', 1)
    WHEN type = 'task_started'
      THEN json_object('kind', 'task_failed', 'runMs', 0, 'taskMs', 0,
        'taskName', data -> '$.taskName', 'attempt', (data ->> '$.attempt') - 1,
        'error', json_object('code', 'INTERRUPTED', 'message', 'The attempt was cut off',
          'retryable', json('true')),
        'used', json_object('inputTokens', 0, 'outputTokens', 0, 'toolCallCount', 0),
        'willRetry', json('true'))
    WHEN type = 'task_failed'
      THEN json_object('kind', 'task_failed', 'runMs', 0, 'taskMs', data -> '$.durationMs',
        'taskName', data -> '$.taskName', 'attempt', data -> '$.attempt',
        'error', json_object('code', data -> '$.code', 'message', data -> '$.reason',
          'retryable', json('false')),
        'used', json_object('inputTokens', 0, 'outputTokens', 0, 'toolCallCount', 0),
        'willRetry', json('false'))
    ELSE json_object('kind', 'task_completed', 'runMs', 0, 'taskMs', data -> '$.durationMs',
        'taskName', data -> '$.taskName', 'attempt', data -> '$.attempt',
        'output', data -> '$.output', 'durationMs', data -> '$.durationMs',
        'used', json_object('inputTokens', data -> '$.inputTokens',
          'outputTokens', data -> '$.outputTokens', 'toolCallCount', data -> '$.toolCallCount'))
    END
  FROM events JOIN runs ON runs.id = run
  WHERE status NOT IN ('COMPLETED', 'FAILED', 'CANCELLED', 'REJECTED') AND type IN (
    'ensemble_started', 'run_cancelling', 'task_skipped', 'task_started', 'task_failed',
    'task_completed');
  `,
  // Runs that have not ended wait for an owner, the oldest first. Text that models, tools and people
  // write becomes JSON, which has room for every character.
  `
  ALTER TABLE runs ADD COLUMN state TEXT NOT NULL DEFAULT 'ready';
  ALTER TABLE runs ADD COLUMN owner TEXT;
  ALTER TABLE runs ADD COLUMN due_at INTEGER;
  ALTER TABLE runs ADD COLUMN write_no INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE runs ADD COLUMN lost_owners INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE runs ADD COLUMN ended_at INTEGER;
  ALTER TABLE runs ADD COLUMN idempotency_key TEXT;
  ALTER TABLE runs ADD COLUMN fingerprint TEXT;
  UPDATE runs SET state = 'ended', ended_at = coalesce(completed_at, created_at)
  WHERE status IN ('COMPLETED', 'FAILED', 'CANCELLED', 'REJECTED');
  UPDATE runs SET due_at = created_at WHERE state = 'ready';
  UPDATE runs SET error = json_quote(error) WHERE error IS NOT NULL;
  UPDATE tasks SET name = json_quote(name), description = json_quote(description),
    agent_role = json_quote(agent_role);
  UPDATE tasks SET output = json_quote(output) WHERE output IS NOT NULL;
  UPDATE tasks SET error = json_quote(error) WHERE error IS NOT NULL;
  CREATE INDEX runs_by_state ON runs (state, due_at);
  CREATE INDEX runs_by_end ON runs (ended_at) WHERE ended_at IS NOT NULL;
  CREATE UNIQUE INDEX runs_by_key ON runs (idempotency_key) WHERE idempotency_key IS NOT NULL;

  CREATE TABLE signals (
    n INTEGER PRIMARY KEY,
    signal_id TEXT NOT NULL UNIQUE,
    run INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    wish TEXT NOT NULL,
    answer TEXT
  ) STRICT;
  CREATE INDEX signals_by_run ON signals (run);

  CREATE TABLE reviews (
    n INTEGER PRIMARY KEY,
    run INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    review_id TEXT NOT NULL,
    status TEXT NOT NULL DEFAULT 'OPEN',
    request TEXT NOT NULL,
    opened_at INTEGER NOT NULL,
    expires_at INTEGER,
    decided_by TEXT,
    UNIQUE (run, review_id)
  ) STRICT;
  CREATE INDEX reviews_by_id ON reviews (review_id);
  CREATE INDEX reviews_by_status ON reviews (status, n);
  `,
  // The cost of a run is summed when it ends, so that counting many ended runs is fast. Existing runs have no actor, so
  // their cost is not needed.
  `
  ALTER TABLE runs ADD COLUMN request TEXT;
  ALTER TABLE runs ADD COLUMN actor TEXT;
  ALTER TABLE runs ADD COLUMN webhooks TEXT;
  ALTER TABLE runs ADD COLUMN cost_usd REAL;
  CREATE INDEX runs_of_actor ON runs (actor, created_at)
    WHERE actor IS NOT NULL AND state <> 'ended';
  CREATE INDEX runs_spent ON runs (actor, created_at, state, cost_usd)
    WHERE actor IS NOT NULL AND state = 'ended';

  CREATE TABLE deliveries (
    n INTEGER PRIMARY KEY,
    run INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    seq INTEGER NOT NULL,
    webhook TEXT NOT NULL,
    due_at INTEGER,
    attempt INTEGER NOT NULL DEFAULT 0,
    outcome TEXT,
    reason TEXT,
    UNIQUE (run, seq, webhook)
  ) STRICT;
  CREATE INDEX deliveries_due ON deliveries (due_at, n) WHERE due_at IS NOT NULL;

  CREATE TABLE audit (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    run_id TEXT,
    actor TEXT NOT NULL,
    action TEXT NOT NULL,
    data TEXT NOT NULL
  ) STRICT;
  CREATE INDEX audit_by_run ON audit (run_id, id) WHERE run_id IS NOT NULL;
  CREATE INDEX audit_by_actor ON audit (actor, id);
  CREATE INDEX audit_by_action ON audit (action, id);
  `,
  // A separate table, because the text can be long and the row of a run is read often. `search_text` is a function
  // of this process.
  `
  CREATE TABLE run_texts (
    run INTEGER PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE,
    text TEXT NOT NULL
  ) STRICT;
  INSERT INTO run_texts (run, text) SELECT id, search_text(inputs, tags) FROM runs;
  `,
  // Random secrets by name, such as the one that signs tickets.
  `
  CREATE TABLE secrets (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
  `,
  // 1 while the owner of a run only waits for a person.
  `
  ALTER TABLE runs ADD COLUMN waiting INTEGER NOT NULL DEFAULT 0;
  `,
  // Memories of tasks by scope, and reflections by the hash of the task's description.
  `
  CREATE TABLE memories (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    scope TEXT NOT NULL,
    data TEXT NOT NULL
  ) STRICT;
  CREATE INDEX memories_by_scope ON memories (scope, id);

  CREATE TABLE reflections (
    key TEXT PRIMARY KEY,
    data TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
  `,
  `ALTER TABLE tasks ADD COLUMN finish_reason TEXT;`,
  // The time at which a run was claimed, an index of suspects, and the key under which later requests find the
  // result of a run.
  `
  ALTER TABLE runs ADD COLUMN claimed_at INTEGER;
  ALTER TABLE runs ADD COLUMN cache_key TEXT;
  CREATE INDEX runs_suspected ON runs (due_at) WHERE lost_owners > 0 AND state <> 'ended';
  CREATE INDEX runs_cached ON runs (cache_key, id) WHERE cache_key IS NOT NULL;
  `,
  // The fencing token of a run: random, and replaced by each claim and by each write to an unowned run.
  `
  ALTER TABLE runs ADD COLUMN token TEXT;
  UPDATE runs SET token = lower(hex(randomblob(16))) WHERE state <> 'ended';
  `,
  // Approximate size with the values of other events that the data refers to; NULL for data without references.
  `
  ALTER TABLE events ADD COLUMN bytes INTEGER;
  ALTER TABLE steps ADD COLUMN bytes INTEGER;
  `,
  // Threads and their runs. The greatest `place` is that of the newest submission.
  `
  CREATE TABLE threads (
    place INTEGER PRIMARY KEY,
    thread_id TEXT NOT NULL UNIQUE,
    title TEXT,
    tags TEXT NOT NULL,
    actor TEXT,
    created_at INTEGER NOT NULL,
    changed_at INTEGER NOT NULL
  ) STRICT;

  CREATE TABLE thread_runs (
    thread_id TEXT NOT NULL REFERENCES threads (thread_id),
    n INTEGER NOT NULL,
    run INTEGER NOT NULL UNIQUE REFERENCES runs (id) ON DELETE CASCADE,
    user_message TEXT NOT NULL,
    final_task INTEGER NOT NULL,
    PRIMARY KEY (thread_id, n)
  ) STRICT, WITHOUT ROWID;

  ALTER TABLE runs ADD COLUMN thread_id TEXT;
  `,
  // Sequence number of the event of a step; NULL in steps of earlier versions. Steps are retained after the end of their
  // run: `trimmed_steps` is the end and the id of the last run whose steps are deleted.
  `
  ALTER TABLE steps ADD COLUMN seq INTEGER;
  CREATE TABLE trimmed_steps (ended_at INTEGER NOT NULL, run INTEGER NOT NULL) STRICT;
  INSERT INTO trimmed_steps VALUES (0, 0);
  `,
  // The codes of ensembles, and the code of each run that a process has taken.
  `
  ALTER TABLE runs ADD COLUMN build TEXT;
  ALTER TABLE runs ADD COLUMN code TEXT;
  CREATE INDEX runs_waiting_for_build ON runs (id) WHERE status = 'WAITING_FOR_BUILD';

  CREATE TABLE builds (
    build TEXT NOT NULL,
    ensemble TEXT NOT NULL,
    code TEXT NOT NULL,
    started_at INTEGER NOT NULL,
    UNIQUE (build, ensemble, code)
  ) STRICT;

  CREATE TABLE manifests (
    code TEXT PRIMARY KEY,
    data TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
  `,
  // The run that a run was forked from, as JSON.
  `ALTER TABLE runs ADD COLUMN parent TEXT;`,
  // The time at which a build first started, and its share of new runs. `given` is the share with which a process of the
  // build started last. A fixed run was submitted to its build.
  `
  ALTER TABLE builds ADD COLUMN first_started_at INTEGER;
  UPDATE builds SET first_started_at = started_at;
  CREATE TABLE build_shares (
    build TEXT PRIMARY KEY,
    share INTEGER NOT NULL,
    given INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  ALTER TABLE runs ADD COLUMN fixed INTEGER;
  `,
  // The key of an event or a step, as in `log-key.ts`. Triggers take the place of foreign keys, which need an index.
  `
  CREATE TABLE keyed_events (
    key INTEGER PRIMARY KEY,
    type TEXT NOT NULL,
    data TEXT NOT NULL,
    bytes INTEGER
  ) STRICT;
  INSERT INTO keyed_events SELECT run << 32 | seq, type, data, bytes FROM events ORDER BY run, seq;
  DROP TABLE events;
  ALTER TABLE keyed_events RENAME TO events;

  CREATE TABLE keyed_steps (
    key INTEGER PRIMARY KEY,
    seq INTEGER,
    data TEXT NOT NULL,
    bytes INTEGER
  ) STRICT;
  INSERT INTO keyed_steps SELECT run << 32 | n, seq, data, bytes FROM steps ORDER BY run, n;
  DROP TABLE steps;
  ALTER TABLE keyed_steps RENAME TO steps;

  CREATE TRIGGER delete_log AFTER DELETE ON runs BEGIN
    DELETE FROM events WHERE key BETWEEN OLD.id << 32 AND (OLD.id << 32 | 4294967295);
    DELETE FROM steps WHERE key BETWEEN OLD.id << 32 AND (OLD.id << 32 | 4294967295);
  END;
  `,
  // Runs that were claimed before are claimed before all others.
  `
  CREATE INDEX runs_released ON runs (due_at) WHERE state = 'ready' AND epoch > 0 AND lost_owners = 0;
  `,
  // The kind of a review, so that the reviews that people decide are found without reading the others.
  `
  ALTER TABLE reviews ADD COLUMN kind TEXT NOT NULL DEFAULT 'TASK_OUTPUT';
  `,
]

/**
 * Migrates a database to the newest version, each step in a separate transaction.
 *
 * @throws {TuttiError} SCHEMA_TOO_NEW when a newer version of this package has written it.
 */
export function migrateSqlite(database: DatabaseSync): void {
  const version = schemaVersion(database)
  if (version > SQLITE_MIGRATIONS.length) {
    throw new TuttiError(
      'SCHEMA_TOO_NEW',
      `Cannot open the run store: its schema has version ${version}, but this release supports at most ` +
        `version ${SQLITE_MIGRATIONS.length}. Use the release that wrote it or a newer one`,
    )
  }
  database.function('search_text', { deterministic: true }, (inputs, tags) =>
    toSearchText({ inputs: JSON.parse(String(inputs)), tags: JSON.parse(String(tags)) }),
  )
  for (const [index, sql] of SQLITE_MIGRATIONS.entries()) {
    if (index < version) continue
    database.exec(`BEGIN IMMEDIATE; ${sql}; PRAGMA user_version = ${index + 1}; COMMIT`)
  }
}

function schemaVersion(database: DatabaseSync): number {
  return Number(database.prepare('PRAGMA user_version').get()?.['user_version'])
}
