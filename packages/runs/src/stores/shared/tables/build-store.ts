/** The codes of ensembles. A store adds what depends on its leases, its claims and its locks. */
import { WHOLE_SEPARATOR } from '../../../domain/claim-key.ts'

import type { StoredRow } from '../column-reader.ts'
import type { StoredTexts } from '../schema/columns.ts'
import type { StoreParts } from '../schema/dialect.ts'
import type {
  BuildStore,
  KnownBuild,
  LivingBuild,
  StrandedRun,
} from '../../../ports/build-store.ts'

/** The columns of a stranded run. */
export const STRANDED_COLUMNS = 'run_id, ensemble, build, code, token, status, epoch, fixed'

export const NEWEST_FIRST = 'ORDER BY first_started_at DESC, build, ensemble, code'

/** Assignments of a run that gets the build and the code of these expressions; a held one becomes ready. */
export function moveSql(build: string, code: string): string {
  return `build = ${build}, code = ${code},
    state = CASE status WHEN 'WAITING_FOR_BUILD' THEN 'ready' ELSE state END,
    due_at = CASE status WHEN 'WAITING_FOR_BUILD' THEN $now ELSE due_at END,
    status = CASE WHEN status <> 'WAITING_FOR_BUILD' THEN status
      WHEN started_at IS NULL THEN 'ACCEPTED' ELSE 'RUNNING' END`
}

/** The code of a run after a claim, given the expression of its owner's code: a whole code (RUNS-Z20) stays as it is. */
export function claimedCodeSql(own: string): string {
  return `CASE WHEN code LIKE '%${WHOLE_SEPARATOR}%' THEN code ELSE coalesce(${own}, code) END`
}

/** Builds the query of `known` builds with the numbers of their runs as the object `unfinished` of `toObject`. */
export function countedBuildsSql(
  known: string,
  toObject: 'json_object_agg' | 'json_group_object',
): string {
  return `
    WITH counts AS (
      SELECT build, ensemble, code, status, sum(amount) AS runs FROM (
        SELECT build, ensemble, code, status, count(*) AS amount FROM $schema.runs
        WHERE state <> 'ended' AND state IN ('owned', 'ready') AND code IS NOT NULL
        GROUP BY build, ensemble, code, status
        UNION ALL SELECT build, ensemble, code, status, amount FROM $schema.parked_totals
      ) AS counted GROUP BY build, ensemble, code, status HAVING sum(amount) > 0
    ), unfinished AS (
      SELECT build, ensemble, code, ${toObject}(status, runs) AS unfinished
      FROM counts GROUP BY 1, 2, 3
    )
    SELECT found.*, unfinished FROM (${known}) AS found
    LEFT JOIN unfinished USING (build, ensemble, code) ${NEWEST_FIRST}`
}

/** Returns the methods that need no more than the tables. `unowned` is the condition of a run that is found by its id. */
export function buildTable(
  { dialect: { texts }, requests }: Pick<StoreParts, 'dialect' | 'requests'>,
  unowned: string,
): Pick<BuildStore, 'setShare' | 'manifest' | 'findUnowned' | 'hold'> {
  const { id: toId } = texts.encode
  return {
    async setShare(build, share) {
      const rows = await requests.query(
        `INSERT INTO $schema.build_shares (build, share, given)
         SELECT $1::text, $2::int4, 100
         WHERE EXISTS (SELECT 1 FROM $schema.builds WHERE build = $1)
         ON CONFLICT (build) DO UPDATE SET share = excluded.share RETURNING build`,
        [toId(build), share],
      )
      return rows.length > 0
    },
    async manifest(code) {
      const [row] = await requests.query('SELECT data FROM $schema.manifests WHERE code = $1', [
        code,
      ])
      return row === undefined ? undefined : JSON.parse(String(texts.id(String(row['data']))))
    },
    async findUnowned(runId) {
      const [row] = await requests.query(
        `SELECT ${STRANDED_COLUMNS} FROM $schema.runs
         WHERE run_id = $1 AND ${unowned} AND code IS NOT NULL`,
        [toId(runId)],
      )
      return row === undefined ? undefined : readStranded(texts, row)
    },
    async hold({ runId, token }) {
      const rows = await requests.query(
        `UPDATE $schema.runs SET state = 'parked', due_at = NULL, status = 'WAITING_FOR_BUILD'
         WHERE run_id = $1 AND token = $2 AND ${unowned} RETURNING id`,
        [toId(runId), token],
      )
      return rows.length > 0
    },
  }
}

/** Reads the code of a build, or of a run. */
export function readCode(
  texts: StoredTexts,
  row: StoredRow,
): Pick<StrandedRun, 'build' | 'ensemble' | 'code'> {
  return {
    build: String(texts.id(String(row['build']))),
    ensemble: String(texts.id(String(row['ensemble']))),
    code: String(row['code']),
  }
}

/** Reads a build that has so many living processes. */
export function readLiving(texts: StoredTexts, row: StoredRow, processes: number): LivingBuild {
  return {
    ...readCode(texts, row),
    firstStartedAt: Number(row['first_started_at']),
    share: Number(row['share']),
    processes,
  }
}

/** Reads a build with the numbers of its runs. */
export function readKnown(texts: StoredTexts, row: StoredRow, processes: number): KnownBuild {
  const counted = row['unfinished'] ?? {}
  return {
    ...readLiving(texts, row, processes),
    startedAt: Number(row['started_at']),
    // NOTE: a cast at the boundary: the statement counts by status. A driver may have parsed the JSON.
    unfinished: (typeof counted === 'string'
      ? JSON.parse(counted)
      : counted) as KnownBuild['unfinished'],
  }
}

/** Reads the columns {@link STRANDED_COLUMNS}. */
export function readStranded(texts: StoredTexts, row: StoredRow): StrandedRun {
  return {
    ...readCode(texts, row),
    runId: String(texts.id(String(row['run_id']))),
    token: String(row['token']),
    isHeld: row['status'] === 'WAITING_FOR_BUILD',
    isCancelling: row['status'] === 'CANCELLING',
    hasBegun: Number(row['epoch']) > 0,
    isFixed: Boolean(row['fixed']),
  }
}
