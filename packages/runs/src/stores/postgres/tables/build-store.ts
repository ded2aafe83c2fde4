/** The codes of ensembles in Postgres. */
import { listClaimKeys, toClaimKey } from '../../../domain/claim-key.ts'
import { MAX_BUILDS, type BuildStore, type NewBuild } from '../../../ports/build-store.ts'
import {
  buildTable,
  countedBuildsSql,
  moveSql,
  NEWEST_FIRST,
  readCode,
  readKnown,
  readLiving,
  readStranded,
  STRANDED_COLUMNS,
} from '../../shared/tables/build-store.ts'
import { postgresDialect } from '../schema/dialect.ts'
import {
  CLAIM_KEY,
  foundKeysSql,
  HELD,
  isStrandedSql,
  STATE_OF_FOUND,
  UNOWNED,
} from '../schema/claim-key-sql.ts'
import { fromColumn, toColumn } from '../database/text.ts'

import { deleteEmptyParked } from '../runs/totals.ts'

import type { DatabaseSession } from '../database/database.ts'
import type { PostgresParts } from '../rows/parts.ts'

const { texts } = postgresDialect

/** Returns the build store of a Postgres database. */
export function postgresBuildStore({
  requests,
  waker,
}: Pick<PostgresParts, 'requests' | 'waker'>): BuildStore {
  const { schema } = requests
  return {
    ...buildTable(
      { dialect: postgresDialect, requests },
      `${STATE_OF_FOUND} IN ('ready', 'parked')`,
    ),
    register: (build) => requests.transaction({}, (session) => registerBuild(session, build)),
    async list() {
      const rows = await requests.query(
        countedBuildsSql(buildsSql(schema, 'LEFT JOIN'), 'json_object_agg'),
      )
      return rows.map((row) => readKnown(texts, row, Number(row['processes'])))
    },
    async living() {
      const rows = await requests.query(`${buildsSql(schema, 'JOIN')} ${NEWEST_FIRST}`)
      return rows.map((row) => readLiving(texts, row, Number(row['processes'])))
    },
    async findStranded({ codes, limit, includesHeld }) {
      const rows = await requests.query(strandedSql(schema), [
        listClaimKeys(codes).map(toColumn),
        limit,
        includesHeld,
      ])
      return rows.map((row) => readStranded(texts, row))
    },
    async move(moves) {
      const rows = await requests.query(movesSql(), [
        moves.map(({ runId }) => toColumn(runId)),
        moves.map(({ token }) => token),
        moves.map(({ to }) => toColumn(to.build)),
        moves.map(({ to }) => to.code),
      ])
      waker.wake(
        rows
          .filter((row) => row['state'] === 'ready')
          .map((row) => toClaimKey(readCode(texts, row))),
      )
      return rows.map((row) => fromColumn(String(row['run_id'])))
    },
  }
}

/** Stores a build with its manifests, and deletes the oldest beyond the limit. */
async function registerBuild(
  { schema, query }: DatabaseSession,
  { build, share, ensembles }: NewBuild,
): Promise<void> {
  await query(
    `INSERT INTO ${schema}.manifests (code, data)
           SELECT * FROM unnest($1::text[], $2::text[]) AS given (code, data) ORDER BY code
           ON CONFLICT (code) DO NOTHING`,
    [
      ensembles.map(({ code }) => code),
      ensembles.map(({ manifest }) => toColumn(JSON.stringify(manifest))),
    ],
  )
  await query(startedSql(schema), [
    toColumn(build),
    ensembles.map(({ ensemble }) => toColumn(ensemble)),
    ensembles.map(({ code }) => code),
  ])
  await query(
    `INSERT INTO ${schema}.build_shares (build, share, given)
           SELECT $1::text, $2::int4, $2::int4 WHERE NOT EXISTS (
             SELECT FROM ${schema}.build_shares WHERE build = $1 AND given = $2)
           ON CONFLICT (build) DO UPDATE SET share = excluded.share, given = excluded.given
           WHERE build_shares.given <> excluded.given`,
    [toColumn(build), share],
  )
  await query(
    `DELETE FROM ${schema}.builds WHERE started_at < (
             SELECT started_at FROM ${schema}.builds ORDER BY started_at DESC OFFSET ${MAX_BUILDS - 1} LIMIT 1)`,
  )
  await query(
    `DELETE FROM ${schema}.manifests WHERE NOT EXISTS (
             SELECT FROM ${schema}.builds WHERE builds.code = manifests.code)`,
  )
  await query(
    `DELETE FROM ${schema}.build_shares WHERE NOT EXISTS (
             SELECT FROM ${schema}.builds WHERE builds.build = build_shares.build)`,
  )
  await deleteEmptyParked({ schema, query })
}

/**
 * Builds the statement that sets the start time of build `$1`, for ensembles `$2` with codes `$3`. Processes that
 * start at the same time do not wait for each other: a row that another one is writing gets the same time. The lock of a
 * known row only waits until a process that deletes it has committed.
 */
function startedSql(schema: string): string {
  return `
    WITH given AS (
      SELECT $1::text AS build, * FROM unnest($2::text[], $3::text[]) AS named (ensemble, code)
    ), known AS MATERIALIZED (
      SELECT build, ensemble, code FROM ${schema}.builds JOIN given USING (build, ensemble, code)
      FOR KEY SHARE OF builds
    ), added AS (
      INSERT INTO ${schema}.builds (build, ensemble, code)
      SELECT build, ensemble, code FROM (TABLE given EXCEPT TABLE known) AS missing
      ORDER BY ensemble, code ON CONFLICT DO NOTHING
    ), unlocked AS MATERIALIZED (
      SELECT build, ensemble, code FROM ${schema}.builds JOIN known USING (build, ensemble, code)
      FOR NO KEY UPDATE OF builds SKIP LOCKED
    )
    UPDATE ${schema}.builds SET started_at = clock_timestamp() FROM unlocked
    WHERE (builds.build, builds.ensemble, builds.code) = (unlocked.build, unlocked.ensemble, unlocked.code)`
}

/** Builds the query of all builds with the processes that have a lease; with `JOIN`, only of those that have one. */
function buildsSql(schema: string, join: 'JOIN' | 'LEFT JOIN'): string {
  return `
    SELECT builds.build, ensemble, code, coalesce(share, 100) AS share, coalesce(processes, 0) AS processes,
      floor(extract(epoch FROM started_at) * 1000) AS started_at,
      floor(extract(epoch FROM first_started_at) * 1000) AS first_started_at
    FROM ${schema}.builds LEFT JOIN ${schema}.build_shares USING (build)
    ${join} (
      SELECT leases.build AS lease_build, key, count(*) AS processes
      FROM ${schema}.leases CROSS JOIN unnest(ensembles) AS known (key)
      WHERE expires_at > statement_timestamp() AND leases.build IS NOT NULL GROUP BY 1, 2
    ) AS alive ON lease_build = builds.build AND key = ${CLAIM_KEY}`
}

/** Builds the statement that gives runs `$1` with tokens `$2` the builds `$3` and the codes `$4`. */
function movesSql(): string {
  return `
    UPDATE $schema.runs SET ${moveSql('moves.build', 'moves.code')}
    FROM unnest($1::text[], $2::uuid[], $3::text[], $4::text[]) AS moves (run_id, token, build, code)
    WHERE runs.run_id = moves.run_id AND runs.token = moves.token AND ${STATE_OF_FOUND} IN ('ready', 'parked')
    RETURNING runs.run_id, ensemble, runs.build, runs.code, state`
}

/**
 * Builds the query of stranded runs: one probe of the index for each claim key of a due run. `$1` are the keys of the
 * caller, `$2` is the maximum number of due runs and of held runs, `$3` whether held runs of all codes are returned.
 */
function strandedSql(schema: string): string {
  const columns = STRANDED_COLUMNS
  return `
    WITH RECURSIVE ${foundKeysSql(schema)}, unknown AS (
      SELECT key FROM found WHERE ${isStrandedSql(schema, '$1')}
    )
    (SELECT due.* FROM unknown CROSS JOIN LATERAL (
       SELECT ${columns} FROM ${schema}.runs
       WHERE ${UNOWNED} AND ${CLAIM_KEY} = key AND due_at <= statement_timestamp()
       ORDER BY due_at LIMIT $2) AS due
     LIMIT $2)
    UNION ALL
    (SELECT ${columns} FROM ${schema}.runs
     WHERE ${HELD} AND code IS NOT NULL AND ensemble = ANY ($1::text[])
       AND ($3::bool OR ${CLAIM_KEY} = ANY ($1::text[]))
     ORDER BY id LIMIT $2)`
}
