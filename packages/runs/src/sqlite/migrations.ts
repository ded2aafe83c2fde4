/** The schema of the embedded store, as numbered steps that only go forward. */
import { TuttiError } from '@tutti/core'

import type { DatabaseSync } from 'node:sqlite'

/** Step N brings a database of version N to version N + 1. A step that was released never changes. */
const MIGRATIONS: readonly string[] = [
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
]

/**
 * Brings a database to the newest version, each step in a transaction of its own.
 *
 * @throws {TuttiError} SCHEMA_TOO_NEW when a newer version of this package has written it.
 */
export function migrate(database: DatabaseSync): void {
  const version = schemaVersion(database)
  if (version > MIGRATIONS.length) {
    throw new TuttiError(
      'SCHEMA_TOO_NEW',
      `Cannot open the run store: its schema has version ${version}, this program knows up to ` +
        `version ${MIGRATIONS.length}; use the program that wrote it or a newer one`,
    )
  }
  for (const [index, sql] of MIGRATIONS.entries()) {
    if (index < version) continue
    database.exec(`BEGIN IMMEDIATE; ${sql}; PRAGMA user_version = ${index + 1}; COMMIT`)
  }
}

function schemaVersion(database: DatabaseSync): number {
  return Number(database.prepare('PRAGMA user_version').get()?.['user_version'])
}
