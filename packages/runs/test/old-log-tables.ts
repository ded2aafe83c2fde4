/** SQL that turns the tables of the log of an embedded store into those of its first versions. */
export const TO_OLD_LOG_TABLES = `
  DROP TRIGGER delete_log;
  ALTER TABLE events RENAME TO keyed_events;
  ALTER TABLE steps RENAME TO keyed_steps;
  CREATE TABLE events (
    run INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    seq INTEGER NOT NULL,
    type TEXT NOT NULL,
    data TEXT NOT NULL,
    PRIMARY KEY (run, seq)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE steps (
    run INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    n INTEGER NOT NULL,
    data TEXT NOT NULL,
    PRIMARY KEY (run, n)
  ) STRICT, WITHOUT ROWID;
  INSERT INTO events SELECT key >> 32, key & 4294967295, type, data FROM keyed_events;
  INSERT INTO steps SELECT key >> 32, key & 4294967295, data FROM keyed_steps;
  DROP TABLE keyed_events;
  DROP TABLE keyed_steps;`
