/** The codes of ensembles in the embedded store. */
import { listClaimKeys, toClaimKey } from '../../../domain/claim-key.ts'
import {
  MAX_BUILDS,
  type BuildStore,
  type NewBuild,
  type StrandedRun,
} from '../../../ports/build-store.ts'
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
import { SQLITE_CLAIM_KEY, SQLITE_WAITS_FOR_CODE } from '../schema/claim-key-sql.ts'
import { sqliteDialect } from '../schema/dialect.ts'

import type { StoredRow } from '../../shared/column-reader.ts'
import type { Statement } from '../../shared/schema/dialect.ts'
import type { SqliteParts } from '../rows/parts.ts'

/** A run without an owner. */
const UNOWNED = `state IN ('ready', 'parked')`

/** The condition of an ensemble that the caller knows; `$1` are its claim keys. */
const IS_KNOWN = `code IS NOT NULL AND ensemble = ANY($1::text[])`

const BUILDS = `
  SELECT builds.*, coalesce(share, 100) AS share FROM builds LEFT JOIN build_shares USING (build)`

const WAITING = `runs INDEXED BY runs_by_code WHERE ${SQLITE_WAITS_FOR_CODE}`

/**
 * The query of due stranded runs: one probe of the index for each claim key of a run that waits. `$1` are the keys of the
 * caller, `$2` is the maximum number of runs.
 */
const STRANDED = `
  WITH RECURSIVE found (claim_key) AS (
    SELECT (SELECT ${SQLITE_CLAIM_KEY} FROM ${WAITING} ORDER BY ${SQLITE_CLAIM_KEY} LIMIT 1)
    UNION ALL
    SELECT (SELECT ${SQLITE_CLAIM_KEY} FROM ${WAITING} AND ${SQLITE_CLAIM_KEY} > claim_key
        ORDER BY ${SQLITE_CLAIM_KEY} LIMIT 1)
      FROM found WHERE claim_key IS NOT NULL
  )
  SELECT ${STRANDED_COLUMNS} FROM found CROSS JOIN ${WAITING}
    AND NOT (claim_key = ANY($1::text[])) AND ${SQLITE_CLAIM_KEY} = claim_key AND due_at <= $now
    AND ensemble = ANY($1::text[])
  LIMIT $2`

const { texts } = sqliteDialect

/** Returns the build store of an open database. */
export function sqliteBuildStore({
  hub,
  statements,
  transaction,
}: Pick<SqliteParts, 'hub' | 'statements' | 'transaction'>): BuildStore {
  /** Keys of the builds that this process, the only one, has registered. */
  const own = new Set<string>()
  const countProcesses = (row: StoredRow): number =>
    own.has(toBuildKey(readCode(texts, row))) ? 1 : 0
  return {
    ...buildTable({ dialect: sqliteDialect, requests: statements }, UNOWNED),
    async register(started) {
      await statements.changeAll(registerStatements(started))
      const { build, ensembles } = started
      for (const { ensemble, code } of ensembles) own.add(toBuildKey({ build, ensemble, code }))
    },
    async list() {
      return statements
        .run(countedBuildsSql(BUILDS, 'json_group_object'))
        .map((row) => readKnown(texts, row, countProcesses(row)))
    },
    async living() {
      return statements
        .run(`${BUILDS} ${NEWEST_FIRST}`)
        .map((row) => readLiving(texts, row, countProcesses(row)))
        .filter(({ processes }) => processes > 0)
    },
    async findStranded({ codes, limit, includesHeld }) {
      const known = listClaimKeys(codes)
      const due = statements.run(STRANDED, [known, limit])
      // No order: it would read all held runs for each page.
      const held = statements.run(
        `SELECT ${STRANDED_COLUMNS} FROM runs INDEXED BY runs_waiting_for_build
         WHERE status = 'WAITING_FOR_BUILD' AND ${IS_KNOWN}
           AND ${includesHeld ? 'true' : `${SQLITE_CLAIM_KEY} = ANY($1::text[])`} LIMIT $2`,
        [known, limit],
      )
      return [...due, ...held].map((row) => readStranded(texts, row))
    },
    async move(moves) {
      const sql = `UPDATE runs SET ${moveSql('$3', '$4')}
        WHERE run_id = $1 AND token = $2 AND ${UNOWNED} RETURNING run_id`
      const moved = transaction(() =>
        moves.flatMap(({ runId, token, to: { build, code } }) =>
          statements.run(sql, [runId, token, build, code]).map((row) => String(row['run_id'])),
        ),
      )
      if (moved.length > 0) hub.notify([{ kind: 'ready' }])
      return moved
    },
  }
}

/** Returns the statements that store a build with its manifests, and delete the oldest beyond the limit. */
function registerStatements({ build, share, ensembles }: NewBuild): readonly Statement[] {
  return [
    [
      `INSERT INTO build_shares (build, share, given) VALUES ($1, $2, $2)
       ON CONFLICT (build) DO UPDATE SET share = excluded.share, given = excluded.given
       WHERE given <> excluded.given`,
      build,
      share,
    ],
    ...ensembles.flatMap(({ ensemble, code, manifest }): readonly Statement[] => [
      [
        `INSERT INTO builds (build, ensemble, code, started_at, first_started_at)
         VALUES ($1, $2, $3, $now, $now)
         ON CONFLICT (build, ensemble, code) DO UPDATE SET started_at = excluded.started_at`,
        build,
        ensemble,
        code,
      ],
      [
        'INSERT INTO manifests (code, data) VALUES ($1, $2) ON CONFLICT (code) DO NOTHING',
        code,
        JSON.stringify(manifest),
      ],
    ]),
    [
      `DELETE FROM builds WHERE rowid NOT IN (
         SELECT rowid FROM builds ORDER BY started_at DESC, rowid DESC LIMIT ${MAX_BUILDS})`,
    ],
    ['DELETE FROM manifests WHERE code NOT IN (SELECT code FROM builds)'],
    ['DELETE FROM build_shares WHERE build NOT IN (SELECT build FROM builds)'],
  ]
}

/** Returns a key that is unique to the code of an ensemble in a build. */
function toBuildKey({ build, ...code }: Pick<StrandedRun, 'build' | 'ensemble' | 'code'>): string {
  return JSON.stringify([build, toClaimKey(code)])
}
