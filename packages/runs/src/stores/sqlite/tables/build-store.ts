/** The codes of ensembles in the embedded store. */
import { listClaimKeys, toClaimKey } from '../../../domain/claim-key.ts'
import {
  MAX_BUILDS,
  type BuildStore,
  type LivingBuild,
  type StrandedRun,
} from '../../../ports/build-store.ts'
import { SQLITE_CLAIM_KEY } from '../schema/claim-key-sql.ts'

import type { SqliteParts } from '../rows/parts.ts'
import type { DatabaseSync } from 'node:sqlite'
import type { StoredRow } from '../../shared/column-reader.ts'

const STRANDED_COLUMNS = `run_id, ensemble, build, code, token, status, epoch, fixed`

/** Returns the build store of an open database. */
export function sqliteBuildStore({ database, clock, hub, transaction }: SqliteParts): BuildStore {
  const statements = { ...prepareBuilds(database), ...prepareRuns(database) }
  /** Keys of the builds that this process, the only one, has registered. */
  const own = new Set<string>()
  const readLiving = (row: StoredRow): LivingBuild => ({
    ...readCode(row),
    firstStartedAt: Number(row['first_started_at']),
    share: Number(row['share']),
    processes: own.has(toBuildKey(readCode(row))) ? 1 : 0,
  })
  return {
    async register({ build, share, ensembles }) {
      const now = clock.now()
      transaction(() => {
        statements.insertShare.run(build, share, share)
        for (const { manifest: data, ensemble, code } of ensembles) {
          statements.insert.run({ build, ensemble, code, now })
          statements.insertManifest.run(code, JSON.stringify(data))
        }
        statements.trim.run()
        statements.trimManifests.run()
        statements.trimShares.run()
      })
      for (const { ensemble, code } of ensembles) own.add(toBuildKey({ build, ensemble, code }))
    },
    async list() {
      return statements.list.all().map((row) => ({
        ...readLiving(row),
        startedAt: Number(row['started_at']),
        unfinished: JSON.parse(String(row['unfinished'] ?? '{}')),
      }))
    },
    async living() {
      return statements.living
        .all()
        .map(readLiving)
        .filter(({ processes }) => processes > 0)
    },
    async setShare(build, share) {
      return statements.setShare.run({ build, share }).changes > 0
    },
    async manifest(code) {
      const row = statements.manifest.get(code)
      return row === undefined ? undefined : JSON.parse(String(row['data']))
    },
    async findStranded({ codes, limit, includesHeld }) {
      const known = JSON.stringify(listClaimKeys(codes))
      const due = statements.stranded.all({ known, limit, now: clock.now() })
      const others = statements.held.all({ known, limit, all: includesHeld ? 1 : 0 })
      return [...due, ...others].map(readStranded)
    },
    async findUnowned(runId) {
      const row = statements.unowned.get(runId)
      return row === undefined ? undefined : readStranded(row)
    },
    async move(moves) {
      const now = Math.ceil(clock.now())
      const moved = transaction(() =>
        moves
          .filter(({ runId, token, to: { build, code } }) => {
            return statements.move.run({ runId, token, build, code, now }).changes > 0
          })
          .map(({ runId }) => runId),
      )
      if (moved.length > 0) hub.notify([{ kind: 'ready' }])
      return moved
    },
    async hold({ runId, token }) {
      return statements.hold.run(runId, token).changes > 0
    },
  }
}

/** Prepares the statements about builds. */
function prepareBuilds(database: DatabaseSync) {
  const insert = database.prepare(
    `INSERT INTO builds (build, ensemble, code, started_at, first_started_at)
     VALUES ($build, $ensemble, $code, $now, $now)
     ON CONFLICT (build, ensemble, code) DO UPDATE SET started_at = excluded.started_at`,
  )
  const insertManifest = database.prepare(
    'INSERT INTO manifests (code, data) VALUES (?, ?) ON CONFLICT (code) DO NOTHING',
  )
  const trim = database.prepare(
    `DELETE FROM builds WHERE rowid NOT IN (
       SELECT rowid FROM builds ORDER BY started_at DESC, rowid DESC LIMIT ${MAX_BUILDS})`,
  )
  const trimManifests = database.prepare(
    'DELETE FROM manifests WHERE code NOT IN (SELECT code FROM builds)',
  )
  const insertShare = database.prepare(
    `INSERT INTO build_shares (build, share, given) VALUES (?, ?, ?)
     ON CONFLICT (build) DO UPDATE SET share = excluded.share, given = excluded.given
     WHERE given <> excluded.given`,
  )
  const setShare = database.prepare(
    `INSERT INTO build_shares (build, share, given)
     SELECT $build, $share, 100 WHERE EXISTS (SELECT 1 FROM builds WHERE build = $build)
     ON CONFLICT (build) DO UPDATE SET share = excluded.share`,
  )
  const trimShares = database.prepare(
    'DELETE FROM build_shares WHERE build NOT IN (SELECT build FROM builds)',
  )
  const known =
    'SELECT builds.*, coalesce(share, 100) AS share FROM builds LEFT JOIN build_shares USING (build)'
  const newestFirst = 'ORDER BY first_started_at DESC, build, ensemble, code'
  const living = database.prepare(`${known} ${newestFirst}`)
  const list = database.prepare(
    `WITH counts AS (
       SELECT build, ensemble, code, status, count(*) AS runs FROM runs
       WHERE state IN ('owned', 'ready', 'parked') AND code IS NOT NULL GROUP BY 1, 2, 3, 4
     ), unfinished AS (
       SELECT build, ensemble, code, json_group_object(status, runs) AS unfinished
       FROM counts GROUP BY 1, 2, 3
     )
     SELECT found.*, unfinished FROM (${known}) AS found
     LEFT JOIN unfinished USING (build, ensemble, code) ${newestFirst}`,
  )
  const manifest = database.prepare('SELECT data FROM manifests WHERE code = ?')
  return {
    insert,
    insertManifest,
    insertShare,
    setShare,
    trim,
    trimManifests,
    trimShares,
    living,
    list,
    manifest,
  }
}

/** Prepares the statements about runs that wait for other code. */
function prepareRuns(database: DatabaseSync) {
  const stranded = database.prepare(
    `SELECT ${STRANDED_COLUMNS} FROM runs
     WHERE (state = 'ready' OR (state = 'parked' AND due_at <= $now)) AND code IS NOT NULL
       AND ensemble IN (SELECT value FROM json_each($known))
       AND ${SQLITE_CLAIM_KEY} NOT IN (SELECT value FROM json_each($known))
     ORDER BY due_at, id LIMIT $limit`,
  )
  const held = database.prepare(
    `SELECT ${STRANDED_COLUMNS} FROM runs
     WHERE status = 'WAITING_FOR_BUILD' AND code IS NOT NULL
       AND ensemble IN (SELECT value FROM json_each($known))
       AND ($all OR ${SQLITE_CLAIM_KEY} IN (SELECT value FROM json_each($known)))
     ORDER BY id LIMIT $limit`,
  )
  const unowned = database.prepare(
    `SELECT ${STRANDED_COLUMNS} FROM runs
     WHERE run_id = ? AND state IN ('ready', 'parked') AND code IS NOT NULL`,
  )
  const move = database.prepare(
    `UPDATE runs SET build = $build, code = $code,
       state = CASE status WHEN 'WAITING_FOR_BUILD' THEN 'ready' ELSE state END,
       due_at = CASE status WHEN 'WAITING_FOR_BUILD' THEN $now ELSE due_at END,
       status = CASE WHEN status <> 'WAITING_FOR_BUILD' THEN status
         WHEN started_at IS NULL THEN 'ACCEPTED' ELSE 'RUNNING' END
     WHERE run_id = $runId AND token = $token AND state IN ('ready', 'parked')`,
  )
  const hold = database.prepare(
    `UPDATE runs SET state = 'parked', due_at = NULL, status = 'WAITING_FOR_BUILD'
     WHERE run_id = ? AND token = ? AND state IN ('ready', 'parked')`,
  )
  return { stranded, held, unowned, move, hold }
}

function readCode(row: StoredRow): Pick<StrandedRun, 'build' | 'ensemble' | 'code'> {
  return {
    build: String(row['build']),
    ensemble: String(row['ensemble']),
    code: String(row['code']),
  }
}

/** Returns a key that is unique to the code of an ensemble in a build. */
function toBuildKey({ build, ...code }: Pick<StrandedRun, 'build' | 'ensemble' | 'code'>): string {
  return JSON.stringify([build, toClaimKey(code)])
}

function readStranded(row: StoredRow): StrandedRun {
  return {
    ...readCode(row),
    runId: String(row['run_id']),
    token: String(row['token']),
    isHeld: row['status'] === 'WAITING_FOR_BUILD',
    isCancelling: row['status'] === 'CANCELLING',
    hasBegun: Number(row['epoch']) > 0,
    isFixed: row['fixed'] === 1,
  }
}
