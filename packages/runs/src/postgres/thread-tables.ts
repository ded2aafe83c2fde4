/** The migration step that creates the tables of threads. */

/**
 * Threads and their runs. The greatest `place` is that of the newest submission. It is an identity column, because a
 * database user may have no right to use a sequence.
 */
export const THREAD_TABLES = `
  CREATE TABLE $schema.threads (
    place bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
    thread_id text PRIMARY KEY,
    title text,
    tags text NOT NULL,
    tag_index text[] NOT NULL,
    actor text,
    created_at timestamptz NOT NULL DEFAULT now(),
    changed_at timestamptz NOT NULL DEFAULT now()
  );
  CREATE INDEX threads_by_tag ON $schema.threads USING gin (tag_index);
  CREATE TABLE $schema.thread_runs (
    thread_id text NOT NULL REFERENCES $schema.threads,
    n integer NOT NULL,
    run bigint NOT NULL UNIQUE REFERENCES $schema.runs ON DELETE CASCADE,
    user_message text NOT NULL,
    PRIMARY KEY (thread_id, n)
  );
  ALTER TABLE $schema.runs ADD COLUMN thread_id text;
`
