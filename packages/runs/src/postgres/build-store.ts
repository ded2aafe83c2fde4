/** The codes of ensembles in Postgres. */
import { listClaimKeys, toClaimKey } from '../claim-key.ts'
import {
  MAX_BUILDS,
  type BuildStore,
  type NewBuild,
  type StrandedRun,
} from '../ports/build-store.ts'
import { CLAIM_KEY, SEPARATOR, UNOWNED } from './claim-key-sql.ts'
import { fromColumn, toColumn } from './text.ts'

import type { DatabaseSession, PostgresRow } from './database.ts'
import type { PostgresParts } from './postgres-parts.ts'

const STRANDED_COLUMNS = `run_id, ensemble, build, code, token, status`

/** Returns the build store of a Postgres database. */
export function postgresBuildStore({
  requests,
  waker,
}: Pick<PostgresParts, 'requests' | 'waker'>): BuildStore {
  const { schema } = requests
  return {
    register: (builds) => requests.transaction({}, (session) => registerBuilds(session, builds)),
    async list() {
      const rows = await requests.query(
        `SELECT build, ensemble, code, extract(epoch FROM started_at) * 1000 AS started_at
         FROM ${schema}.builds ORDER BY builds.started_at DESC, build, ensemble`,
      )
      return rows.map((row) => ({
        ...readCode(row),
        startedAt: Math.floor(Number(row['started_at'])),
      }))
    },
    async manifest(code) {
      const [row] = await requests.query(`SELECT data FROM ${schema}.manifests WHERE code = $1`, [
        code,
      ])
      return row === undefined ? undefined : JSON.parse(fromColumn(String(row['data'])))
    },
    async findStranded({ codes, limit, includesHeld }) {
      const rows = await requests.query(strandedSql(schema), [
        listClaimKeys(codes).map(toColumn),
        limit,
        includesHeld,
      ])
      return rows.map(readStranded)
    },
    async findUnowned(runId) {
      const [row] = await requests.query(
        `SELECT ${STRANDED_COLUMNS} FROM ${schema}.runs
         WHERE run_id = $1 AND state IN ('ready', 'parked') AND code IS NOT NULL`,
        [toColumn(runId)],
      )
      return row === undefined ? undefined : readStranded(row)
    },
    async move({ runId, token }, { build, code }) {
      const [row] = await requests.query(
        `UPDATE ${schema}.runs SET build = $3, code = $4,
           state = CASE status WHEN 'WAITING_FOR_BUILD' THEN 'ready' ELSE state END,
           due_at = CASE status WHEN 'WAITING_FOR_BUILD' THEN clock_timestamp() ELSE due_at END,
           status = CASE status WHEN 'WAITING_FOR_BUILD' THEN 'RUNNING' ELSE status END
         WHERE run_id = $1 AND token = $2 AND state IN ('ready', 'parked')
         RETURNING ensemble, state`,
        [toColumn(runId), token, toColumn(build), code],
      )
      if (row === undefined) return false
      const ensemble = fromColumn(String(row['ensemble']))
      if (row['state'] === 'ready') waker.wake([toClaimKey({ ensemble, code })])
      return true
    },
    async hold({ runId, token }) {
      const rows = await requests.query(
        `UPDATE ${schema}.runs SET state = 'parked', due_at = NULL, status = 'WAITING_FOR_BUILD'
         WHERE run_id = $1 AND token = $2 AND state IN ('ready', 'parked') RETURNING id`,
        [toColumn(runId), token],
      )
      return rows.length > 0
    },
  }
}

/** Stores builds with their manifests, and deletes the oldest beyond the limit. */
async function registerBuilds(
  { schema, query }: DatabaseSession,
  builds: readonly NewBuild[],
): Promise<void> {
  await query(
    `INSERT INTO ${schema}.manifests (code, data)
           SELECT * FROM unnest($1::text[], $2::text[]) ON CONFLICT (code) DO NOTHING`,
    [
      builds.map(({ code }) => code),
      builds.map(({ manifest }) => toColumn(JSON.stringify(manifest))),
    ],
  )
  await query(
    `INSERT INTO ${schema}.builds (build, ensemble, code)
           SELECT * FROM unnest($1::text[], $2::text[], $3::text[])
           ON CONFLICT (build, ensemble, code) DO UPDATE SET started_at = clock_timestamp()`,
    [
      builds.map(({ build }) => toColumn(build)),
      builds.map(({ ensemble }) => toColumn(ensemble)),
      builds.map(({ code }) => code),
    ],
  )
  await query(
    `DELETE FROM ${schema}.builds WHERE started_at < (
             SELECT started_at FROM ${schema}.builds ORDER BY started_at DESC OFFSET ${MAX_BUILDS - 1} LIMIT 1)`,
  )
  await query(
    `DELETE FROM ${schema}.manifests WHERE NOT EXISTS (
             SELECT FROM ${schema}.builds WHERE builds.code = manifests.code)`,
  )
}

/**
 * Builds the query of stranded runs: one probe of the index for each claim key of a due run. `$1` are the keys of the
 * caller, `$2` is the maximum number of due runs and of held runs, `$3` whether held runs of all codes are returned.
 */
function strandedSql(schema: string): string {
  const columns = STRANDED_COLUMNS
  return `
    WITH RECURSIVE found AS (
      (SELECT ${CLAIM_KEY} AS key FROM ${schema}.runs WHERE ${UNOWNED} ORDER BY ${CLAIM_KEY} LIMIT 1)
      UNION ALL
      SELECT (SELECT ${CLAIM_KEY} FROM ${schema}.runs
          WHERE ${UNOWNED} AND ${CLAIM_KEY} > found.key ORDER BY ${CLAIM_KEY} LIMIT 1)
        FROM found WHERE key IS NOT NULL
    ), unknown AS (
      SELECT key FROM found
      WHERE key <> ALL ($1::text[]) AND split_part(key, ${SEPARATOR}, 1) = ANY ($1::text[])
        AND NOT EXISTS (
          SELECT FROM ${schema}.leases WHERE expires_at > statement_timestamp()
            AND (ensembles IS NULL OR key = ANY (ensembles)))
    )
    (SELECT due.* FROM unknown CROSS JOIN LATERAL (
       SELECT ${columns} FROM ${schema}.runs
       WHERE ${UNOWNED} AND ${CLAIM_KEY} = key AND due_at <= statement_timestamp()
       ORDER BY due_at LIMIT $2) AS due
     LIMIT $2)
    UNION ALL
    (SELECT ${columns} FROM ${schema}.runs
     WHERE status = 'WAITING_FOR_BUILD' AND code IS NOT NULL AND ensemble = ANY ($1::text[])
       AND ($3::bool OR ${CLAIM_KEY} = ANY ($1::text[]))
     ORDER BY id LIMIT $2)`
}

function readCode(row: PostgresRow): Pick<StrandedRun, 'build' | 'ensemble' | 'code'> {
  return {
    build: fromColumn(String(row['build'])),
    ensemble: fromColumn(String(row['ensemble'])),
    code: String(row['code']),
  }
}

function readStranded(row: PostgresRow): StrandedRun {
  return {
    ...readCode(row),
    runId: fromColumn(String(row['run_id'])),
    token: String(row['token']),
    isHeld: row['status'] === 'WAITING_FOR_BUILD',
    isCancelling: row['status'] === 'CANCELLING',
  }
}
