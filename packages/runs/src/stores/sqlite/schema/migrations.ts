/** The schema of the embedded store, as numbered steps that only go forward. */
import { TuttiError } from '@tutti/core/basics'

import {
  SQLITE_CLAIM_KEY,
  SQLITE_FAIRNESS_KEY,
  SQLITE_LEVEL,
  SQLITE_NEW_AND_READY,
  SQLITE_WAITS_FOR_CODE,
} from './claim-key-sql.ts'
import { addOne, parkedLike, reviewsLike, subtractOne, unfinishedOf } from './totals-sql.ts'

import type { DatabaseSync } from 'node:sqlite'

/** SQL of the time at which the status of a run changed, or `review_since`. */
export const SQLITE_CHANGED_AT =
  'max(coalesce(completed_at, started_at, created_at), coalesce(review_since, 0))'

/** Condition of the index `runs_by_change`. */
export const IS_IN_CHANGE_INDEX = `state IN ('parked', 'ended')`

/** SQL of whether the text of a run is too long for the index. Indexing 32,000 characters takes 3 to 8 ms. */
export const IS_TOO_LONG = 'length(text) > 32000'

/** Number of runs that are added to the text index together. Those that wait are searched one by one. */
const RUNS_INDEXED_TOGETHER = 32

/** Length above which a text is added at once, so that many of them are not added in one transaction. */
const INDEXED_ALONE = 1000

/**
 * Sets `review_since` of the run of a changed review. The `+` excludes the index of open reviews, which
 * has those of all runs.
 */
const SET_REVIEW_SINCE = `UPDATE runs SET review_since = (
      SELECT min(opened_at) FROM reviews WHERE run = NEW.run AND +status = 'OPEN' AND kind <> 'EVENT'
    ) WHERE id = NEW.run`

/**
 * Step N brings a database of version N to version N + 1. A step that was released never changes.
 *
 * A row that does not fit a page of 4 KiB continues on overflow pages. SQLite follows them to reach a later column, and
 * writes them all again with each update. So texts without a small limit are in separate tables, or come last. A search
 * in a table WITHOUT ROWID reads all pages of each row that it compares, so only tables of small rows use it.
 */
export const SQLITE_MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE runs (
    id INTEGER PRIMARY KEY,
    run_id TEXT NOT NULL UNIQUE,
    ensemble TEXT NOT NULL,
    workflow TEXT NOT NULL,
    status TEXT NOT NULL,
    task_count INTEGER NOT NULL,
    completed_tasks INTEGER NOT NULL DEFAULT 0,
    created_at INTEGER NOT NULL,
    -- The time before which the run does not start, and by which it must have begun.
    start_at INTEGER,
    start_by INTEGER,
    started_at INTEGER,
    completed_at INTEGER,
    duration_ms INTEGER,
    ended_at INTEGER,
    epoch INTEGER NOT NULL DEFAULT 0,
    last_seq INTEGER NOT NULL DEFAULT -1,
    state TEXT NOT NULL DEFAULT 'ready',
    owner TEXT,
    due_at INTEGER,
    claimed_at INTEGER,
    -- Position among the runs of its queue that were never claimed; see \`turns.ts\`. 0 for all other runs.
    turn INTEGER NOT NULL DEFAULT 0,
    write_no INTEGER NOT NULL DEFAULT 0,
    lost_owners INTEGER NOT NULL DEFAULT 0,
    -- 1 while the owner of a run only waits for a person.
    waiting INTEGER NOT NULL DEFAULT 0,
    -- The fencing token: random, and replaced by each claim and by each write to an unowned run.
    token TEXT,
    idempotency_key TEXT,
    fingerprint TEXT,
    -- The key under which later requests find the result of a run.
    cache_key TEXT,
    actor TEXT,
    -- Summed when the run ends, so that counting many ended runs is fast.
    cost_usd REAL,
    thread_id TEXT,
    build TEXT,
    code TEXT,
    -- 1 for a run that was submitted to its build.
    fixed INTEGER,
    -- NULL for the normal priority, and for the fairness key of the actor.
    priority TEXT,
    fairness_key TEXT,
    -- Time at which the first of the open reviews that a caller can decide opened.
    review_since INTEGER,
    output_task TEXT,
    -- The run that a run was forked from, as JSON.
    parent TEXT,
    tags TEXT NOT NULL,
    webhooks TEXT,
    error TEXT
  ) STRICT;
  CREATE INDEX runs_by_status ON runs (status, id);
  CREATE INDEX runs_by_ensemble ON runs (ensemble, id);
  -- Runs enter it when they are parked or end: each change of an indexed column costs as much as an insertion.
  CREATE INDEX runs_by_change ON runs (ensemble, status, ${SQLITE_CHANGED_AT}, run_id)
    WHERE ${IS_IN_CHANGE_INDEX};
  CREATE INDEX runs_by_state ON runs (state, due_at);
  CREATE INDEX runs_by_end ON runs (ended_at) WHERE ended_at IS NOT NULL;
  CREATE UNIQUE INDEX runs_by_key ON runs (idempotency_key) WHERE idempotency_key IS NOT NULL;
  CREATE INDEX runs_cached ON runs (cache_key, id) WHERE cache_key IS NOT NULL;
  CREATE INDEX runs_suspected ON runs (due_at) WHERE lost_owners > 0 AND state <> 'ended';
  CREATE INDEX runs_released ON runs (due_at) WHERE state = 'ready' AND epoch > 0;
  -- Parked runs that wake come before those that start, so neither may be searched among the others.
  CREATE INDEX runs_to_wake ON runs (due_at) WHERE state = 'parked' AND epoch > 0;
  CREATE INDEX runs_to_start ON runs (${SQLITE_LEVEL}, due_at) WHERE state = 'parked' AND epoch = 0;
  CREATE INDEX runs_by_turn ON runs (${SQLITE_LEVEL}, ${SQLITE_CLAIM_KEY}, turn, due_at)
    WHERE ${SQLITE_NEW_AND_READY};
  CREATE INDEX runs_by_fairness_key ON runs (${SQLITE_LEVEL}, ${SQLITE_CLAIM_KEY}, ${SQLITE_FAIRNESS_KEY}, turn)
    WHERE ${SQLITE_NEW_AND_READY};
  CREATE INDEX runs_to_expire ON runs (start_by)
    WHERE start_by IS NOT NULL AND started_at IS NULL AND state IN ('ready', 'parked');
  CREATE INDEX runs_by_code ON runs (${SQLITE_CLAIM_KEY}, due_at) WHERE ${SQLITE_WAITS_FOR_CODE};
  CREATE INDEX runs_waiting_for_build ON runs (${SQLITE_CLAIM_KEY}) WHERE status = 'WAITING_FOR_BUILD';
  CREATE INDEX runs_of_actor ON runs (actor, created_at)
    WHERE actor IS NOT NULL AND state <> 'ended';
  CREATE INDEX runs_spent ON runs (actor, created_at, state, cost_usd)
    WHERE actor IS NOT NULL AND state = 'ended';

  CREATE TABLE requests (
    run INTEGER PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE,
    inputs TEXT NOT NULL,
    request TEXT
  ) STRICT;

  -- The index values of tags.
  CREATE TABLE run_tags (
    tag TEXT NOT NULL,
    run INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    PRIMARY KEY (tag, run)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX run_tags_by_run ON run_tags (run);

  -- The text in which runs are searched; see \`search-text.ts\`. An addition to the index costs more than the commit of
  -- a run, so runs are added together. Those after the run in \`indexed_texts\` wait for that. It is always a stored
  -- run, so that the id of a deleted run can be used again. Texts that are too long for the index are searched one by
  -- one. Merges of the index remove deleted texts from it; to overwrite them at once takes 5 ms per run.
  CREATE TABLE run_texts (
    run INTEGER PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE,
    text TEXT NOT NULL
  ) STRICT;
  CREATE INDEX run_texts_not_indexed ON run_texts (run) WHERE ${IS_TOO_LONG};
  CREATE VIRTUAL TABLE run_index USING fts5 (
    text, content = 'run_texts', content_rowid = 'run', columnsize = 0,
    tokenize = 'trigram case_sensitive 1'
  );
  CREATE VIRTUAL TABLE run_index_terms USING fts5vocab (run_index, instance);
  CREATE TABLE indexed_texts (run INTEGER NOT NULL) STRICT;
  INSERT INTO indexed_texts VALUES (0);
  CREATE TRIGGER index_texts AFTER INSERT ON run_texts
  WHEN NEW.run % ${RUNS_INDEXED_TOGETHER} = 0 OR length(NEW.text) > ${INDEXED_ALONE} BEGIN
    INSERT INTO run_index (rowid, text) SELECT run, text FROM run_texts
      WHERE run > (SELECT run FROM indexed_texts) AND NOT (${IS_TOO_LONG}) ORDER BY run;
    UPDATE indexed_texts SET run = NEW.run;
  END;
  CREATE TRIGGER delete_text BEFORE DELETE ON run_texts
  WHEN OLD.run <= (SELECT run FROM indexed_texts) BEGIN
    INSERT INTO run_index (run_index, rowid, text)
      SELECT 'delete', run, text FROM run_texts WHERE run = OLD.run AND NOT (${IS_TOO_LONG});
    UPDATE indexed_texts SET run = coalesce((SELECT max(run) FROM run_texts WHERE run < OLD.run), 0)
      WHERE run = OLD.run;
  END;

  CREATE TABLE tasks (
    run INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    task_index INTEGER NOT NULL,
    status TEXT NOT NULL DEFAULT 'PENDING',
    attempt INTEGER NOT NULL DEFAULT 0,
    started_at INTEGER,
    completed_at INTEGER,
    duration_ms INTEGER,
    input_tokens INTEGER NOT NULL DEFAULT 0,
    output_tokens INTEGER NOT NULL DEFAULT 0,
    tool_call_count INTEGER NOT NULL DEFAULT 0,
    cost_usd REAL DEFAULT 0,
    earlier_cost_usd REAL DEFAULT 0,
    earlier_input_tokens INTEGER NOT NULL DEFAULT 0,
    earlier_output_tokens INTEGER NOT NULL DEFAULT 0,
    earlier_tool_call_count INTEGER NOT NULL DEFAULT 0,
    finish_reason TEXT,
    name TEXT NOT NULL,
    agent_role TEXT NOT NULL,
    description TEXT NOT NULL,
    error TEXT,
    output TEXT,
    PRIMARY KEY (run, task_index)
  ) STRICT;

  -- The key of an event or a step is described in \`log-key.ts\`. A trigger deletes them, because a foreign key needs an
  -- index. \`bytes\` is the approximate size with the values of other events that the data refers to; NULL for data
  -- without references.
  CREATE TABLE events (
    key INTEGER PRIMARY KEY,
    type TEXT NOT NULL,
    data TEXT NOT NULL,
    bytes INTEGER
  ) STRICT;
  CREATE TABLE steps (
    key INTEGER PRIMARY KEY,
    -- Sequence number of the step's event.
    seq INTEGER NOT NULL,
    data TEXT NOT NULL,
    bytes INTEGER
  ) STRICT;
  CREATE TRIGGER delete_log AFTER DELETE ON runs BEGIN
    DELETE FROM events WHERE key BETWEEN OLD.id << 32 AND (OLD.id << 32 | 4294967295);
    DELETE FROM steps WHERE key BETWEEN OLD.id << 32 AND (OLD.id << 32 | 4294967295);
  END;
  -- Steps are retained after the end of their run: end and id of the last run whose steps are deleted.
  CREATE TABLE trimmed_steps (ended_at INTEGER NOT NULL, run INTEGER NOT NULL) STRICT;
  INSERT INTO trimmed_steps VALUES (0, 0);

  CREATE TABLE commands (
    n INTEGER PRIMARY KEY,
    command_id TEXT NOT NULL UNIQUE,
    run INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    command TEXT NOT NULL,
    answer TEXT
  ) STRICT;
  CREATE INDEX commands_by_run ON commands (run);

  CREATE TABLE reviews (
    n INTEGER PRIMARY KEY,
    run INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    review_id TEXT NOT NULL,
    status TEXT NOT NULL DEFAULT 'OPEN',
    kind TEXT NOT NULL,
    opened_at INTEGER NOT NULL,
    expires_at INTEGER,
    decided_by TEXT,
    -- The external event that decided it.
    event_id TEXT,
    -- The addresses of the external events that decide it, as JSON.
    waits_for TEXT,
    request TEXT NOT NULL,
    UNIQUE (run, review_id)
  ) STRICT;
  CREATE INDEX reviews_by_id ON reviews (review_id);
  CREATE INDEX reviews_open ON reviews (kind, n) WHERE status = 'OPEN';
  CREATE TRIGGER open_review AFTER INSERT ON reviews
  WHEN NEW.status = 'OPEN' AND NEW.kind <> 'EVENT' BEGIN
    ${SET_REVIEW_SINCE};
  END;
  CREATE TRIGGER close_review AFTER UPDATE OF status ON reviews
  WHEN OLD.status <> NEW.status AND NEW.kind <> 'EVENT' BEGIN
    ${SET_REVIEW_SINCE};
  END;

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

  -- Random secrets by name, such as the one that signs tickets.
  CREATE TABLE secrets (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;

  -- Memories of tasks by scope, and reflections by the hash of the task's description.
  CREATE TABLE memories (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    scope TEXT NOT NULL,
    data TEXT NOT NULL
  ) STRICT;
  CREATE INDEX memories_by_scope ON memories (scope, id);
  CREATE TABLE reflections (
    key TEXT PRIMARY KEY,
    data TEXT NOT NULL
  ) STRICT;

  -- The greatest \`place\` is that of the thread with the newest submission.
  CREATE TABLE threads (
    place INTEGER PRIMARY KEY,
    thread_id TEXT NOT NULL UNIQUE,
    title TEXT,
    tags TEXT NOT NULL,
    -- The index values of the tags, as JSON.
    tag_index TEXT NOT NULL,
    actor TEXT,
    created_at INTEGER NOT NULL,
    changed_at INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE thread_tags (
    tag TEXT NOT NULL,
    place INTEGER NOT NULL REFERENCES threads (place) ON UPDATE CASCADE ON DELETE CASCADE,
    PRIMARY KEY (tag, place)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX thread_tags_by_place ON thread_tags (place);
  CREATE TRIGGER add_thread_tags AFTER INSERT ON threads BEGIN
    INSERT INTO thread_tags (tag, place) SELECT value, NEW.place FROM json_each(NEW.tag_index);
  END;
  CREATE TRIGGER set_thread_tags AFTER UPDATE OF tag_index ON threads BEGIN
    DELETE FROM thread_tags WHERE place = NEW.place;
    INSERT INTO thread_tags (tag, place) SELECT value, NEW.place FROM json_each(NEW.tag_index);
  END;
  CREATE TABLE thread_runs (
    thread_id TEXT NOT NULL REFERENCES threads (thread_id),
    n INTEGER NOT NULL,
    run INTEGER NOT NULL UNIQUE REFERENCES runs (id) ON DELETE CASCADE,
    user_message TEXT NOT NULL,
    PRIMARY KEY (thread_id, n)
  ) STRICT;

  -- The codes of ensembles by build, and their manifests.
  CREATE TABLE builds (
    build TEXT NOT NULL,
    ensemble TEXT NOT NULL,
    code TEXT NOT NULL,
    started_at INTEGER NOT NULL,
    first_started_at INTEGER NOT NULL,
    UNIQUE (build, ensemble, code)
  ) STRICT;
  CREATE TABLE manifests (
    code TEXT PRIMARY KEY,
    data TEXT NOT NULL
  ) STRICT;
  -- Share of new runs of each build. \`given\` is the share with which a process of the build started last.
  CREATE TABLE build_shares (
    build TEXT PRIMARY KEY,
    share INTEGER NOT NULL,
    given INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;

  -- External events that a review waits for, while it is open. The triggers of reviews write them; see \`external-events.ts\`.
  CREATE TABLE waits (
    n INTEGER PRIMARY KEY,
    run INTEGER NOT NULL,
    review_id TEXT NOT NULL,
    address TEXT NOT NULL,
    expires_at INTEGER,
    UNIQUE (run, review_id, address),
    FOREIGN KEY (run, review_id) REFERENCES reviews (run, review_id) ON DELETE CASCADE
  ) STRICT;
  CREATE INDEX waits_by_address ON waits (address, n);
  -- An event without an outcome is free, or assigned to the review that has its \`run\` and \`review_id\`.
  CREATE TABLE external_events (
    n INTEGER PRIMARY KEY AUTOINCREMENT,
    event_id TEXT NOT NULL UNIQUE,
    address TEXT NOT NULL,
    digest TEXT NOT NULL,
    -- The only run that it is for.
    wanted_run INTEGER REFERENCES runs (id) ON DELETE CASCADE,
    run INTEGER REFERENCES runs (id) ON DELETE SET NULL,
    review_id TEXT,
    outcome TEXT,
    received_at INTEGER NOT NULL,
    name TEXT NOT NULL,
    key TEXT,
    sender TEXT,
    reason TEXT,
    data TEXT NOT NULL
  ) STRICT;
  CREATE INDEX external_events_free ON external_events (address, n)
    WHERE outcome IS NULL AND run IS NULL;
  -- With the columns of its condition, which a count would read from the table.
  CREATE INDEX external_events_by_sender ON external_events (sender, outcome, run)
    WHERE outcome IS NULL AND run IS NULL;
  CREATE UNIQUE INDEX external_events_assigned ON external_events (run, review_id)
    WHERE outcome IS NULL AND run IS NOT NULL;
  CREATE INDEX external_events_by_run ON external_events (run) WHERE run IS NOT NULL;
  CREATE INDEX external_events_wanted ON external_events (wanted_run) WHERE wanted_run IS NOT NULL;
  CREATE INDEX external_events_by_age ON external_events (received_at);
  CREATE TRIGGER open_waits AFTER INSERT ON reviews
  WHEN NEW.waits_for IS NOT NULL AND NEW.status = 'OPEN' BEGIN
    INSERT INTO waits (run, review_id, address, expires_at)
      SELECT DISTINCT NEW.run, NEW.review_id, value, NEW.expires_at FROM json_each(NEW.waits_for);
  END;
  CREATE TRIGGER close_waits AFTER UPDATE OF status ON reviews
  WHEN OLD.status <> NEW.status AND NEW.waits_for IS NOT NULL BEGIN
    DELETE FROM waits WHERE run = NEW.run AND review_id = NEW.review_id;
    UPDATE external_events SET outcome = 'delivered'
      WHERE run = NEW.run AND review_id = NEW.review_id AND outcome IS NULL AND event_id = NEW.event_id;
    UPDATE external_events SET run = NULL, review_id = NULL
      WHERE run = NEW.run AND review_id = NEW.review_id AND outcome IS NULL;
  END;
  -- Totals, so that nothing counts parked runs. Triggers maintain them in the transactions that change runs and reviews.
  -- Parked runs are most of the unended ones; others are counted.
  CREATE TABLE parked_totals (
    ensemble TEXT NOT NULL,
    build TEXT NOT NULL,
    code TEXT NOT NULL,
    status TEXT NOT NULL,
    amount INTEGER NOT NULL,
    PRIMARY KEY (ensemble, build, code, status)
  ) STRICT, WITHOUT ROWID;
  CREATE TRIGGER park_new_run AFTER INSERT ON runs WHEN NEW.state = 'parked' BEGIN
    ${addOne(parkedLike('NEW'))};
  END;
  CREATE TRIGGER park_run AFTER UPDATE OF state, status, build, code ON runs
  WHEN NEW.state = 'parked' BEGIN
    ${addOne(parkedLike('NEW'))};
  END;
  CREATE TRIGGER wake_run AFTER UPDATE OF state, status, build, code ON runs
  WHEN OLD.state = 'parked' BEGIN
    ${subtractOne(parkedLike('OLD'))};
  END;
  CREATE TRIGGER delete_parked_run AFTER DELETE ON runs WHEN OLD.state = 'parked' BEGIN
    ${subtractOne(parkedLike('OLD'))};
  END;
  -- | kind | name | amount |
  -- | unfinished | of an actor | runs of the actor that have not ended |
  -- | reviews | a kind of reviews | open reviews |
  CREATE TABLE totals (
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    amount INTEGER NOT NULL,
    PRIMARY KEY (kind, name)
  ) STRICT, WITHOUT ROWID;
  CREATE TRIGGER count_new_run AFTER INSERT ON runs
  WHEN NEW.actor IS NOT NULL AND NEW.state <> 'ended' BEGIN
    ${addOne(unfinishedOf('NEW'))};
  END;
  CREATE TRIGGER count_ended_run AFTER UPDATE OF state ON runs
  WHEN OLD.actor IS NOT NULL AND OLD.state <> 'ended' AND NEW.state = 'ended' BEGIN
    ${subtractOne(unfinishedOf('OLD'))};
  END;
  CREATE TRIGGER count_deleted_run AFTER DELETE ON runs
  WHEN OLD.actor IS NOT NULL AND OLD.state <> 'ended' BEGIN
    ${subtractOne(unfinishedOf('OLD'))};
  END;
  CREATE TRIGGER count_open_review AFTER INSERT ON reviews WHEN NEW.status = 'OPEN' BEGIN
    ${addOne(reviewsLike('NEW'))};
  END;
  CREATE TRIGGER count_closed_review AFTER UPDATE OF status ON reviews
  WHEN OLD.status = 'OPEN' AND NEW.status <> 'OPEN' BEGIN
    ${subtractOne(reviewsLike('OLD'))};
  END;
  CREATE TRIGGER count_deleted_review AFTER DELETE ON reviews WHEN OLD.status = 'OPEN' BEGIN
    ${subtractOne(reviewsLike('OLD'))};
  END;
  -- Schedules; see \`schedule-store.ts\`. \`due_at\` is the time of the next tick with jitter, or the end of its claim.
  CREATE TABLE schedules (
    name TEXT PRIMARY KEY,
    revision INTEGER NOT NULL DEFAULT 1,
    source TEXT NOT NULL,
    state TEXT NOT NULL,
    actor TEXT,
    created_at INTEGER NOT NULL,
    changed_at INTEGER NOT NULL,
    next_tick INTEGER,
    due_at INTEGER,
    queued TEXT NOT NULL,
    last_run TEXT,
    problem TEXT,
    data TEXT NOT NULL
  ) STRICT;
  CREATE INDEX schedules_due ON schedules (due_at, name) WHERE due_at IS NOT NULL;
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
  for (const [index, sql] of SQLITE_MIGRATIONS.entries()) {
    if (index < version) continue
    database.exec(`BEGIN IMMEDIATE; ${sql}; PRAGMA user_version = ${index + 1}; COMMIT`)
  }
}

function schemaVersion(database: DatabaseSync): number {
  return Number(database.prepare('PRAGMA user_version').get()?.['user_version'])
}
