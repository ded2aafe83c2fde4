/** Migration steps of builds; `$schema` is the quoted name of the schema. */

/** The codes of ensembles, and the code of each run. */
export const BUILD_TABLES = `
ALTER TABLE $schema.runs ADD COLUMN build text, ADD COLUMN code text;

CREATE TABLE $schema.builds (
  build text NOT NULL,
  ensemble text NOT NULL,
  code text NOT NULL,
  started_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (build, ensemble, code)
);

CREATE TABLE $schema.manifests (
  code text PRIMARY KEY,
  data text NOT NULL
);
`

/**
 * The build of a process, the time at which a build first started, and its share of new runs. `given` is the share with
 * which a process of the build started last. A fixed run was submitted to its build.
 */
export const BUILD_SHARES = `
ALTER TABLE $schema.leases ADD COLUMN build text;
ALTER TABLE $schema.builds ADD COLUMN first_started_at timestamptz;
ALTER TABLE $schema.builds ALTER COLUMN first_started_at SET DEFAULT clock_timestamp();
UPDATE $schema.builds SET first_started_at = started_at;
CREATE TABLE $schema.build_shares (
  build text PRIMARY KEY,
  share integer NOT NULL,
  given integer NOT NULL
);
ALTER TABLE $schema.runs ADD COLUMN fixed boolean;
`
