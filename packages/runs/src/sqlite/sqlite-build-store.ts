/** The codes of ensembles in the embedded store. */
import { listClaimKeys } from '../claim-key.ts'
import { MAX_BUILDS, type BuildStore, type StrandedRun } from '../ports/build-store.ts'
import { SQLITE_CLAIM_KEY } from './claim-key-sql.ts'

import type { SqliteRow } from './rows.ts'
import type { SqliteParts } from './sqlite-parts.ts'
import type { DatabaseSync } from 'node:sqlite'

const STRANDED_COLUMNS = `run_id, ensemble, build, code, token, status`

/** Returns the build store of an open database. */
export function sqliteBuildStore({ database, clock, hub, transaction }: SqliteParts): BuildStore {
  const statements = prepareStatements(database)
  return {
    async register(builds) {
      const now = clock.now()
      transaction(() => {
        for (const { manifest: data, ...code } of builds) {
          statements.insert.run({ ...code, now })
          statements.insertManifest.run(code.code, JSON.stringify(data))
        }
        statements.trim.run()
        statements.trimManifests.run()
      })
    },
    async list() {
      return statements.list.all().map((row) => ({
        ...readCode(row),
        startedAt: Number(row['started_at']),
      }))
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
    async move({ runId, token }, { build, code }) {
      const now = Math.ceil(clock.now())
      const isMoved = statements.move.run({ runId, token, build, code, now }).changes > 0
      if (isMoved) hub.notify([{ kind: 'ready' }])
      return isMoved
    },
    async hold({ runId, token }) {
      return statements.hold.run(runId, token).changes > 0
    },
  }
}

/** Prepares the statements. */
function prepareStatements(database: DatabaseSync) {
  const insert = database.prepare(
    `INSERT INTO builds (build, ensemble, code, started_at) VALUES ($build, $ensemble, $code, $now)
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
  const list = database.prepare('SELECT * FROM builds ORDER BY started_at DESC, rowid DESC')
  const manifest = database.prepare('SELECT data FROM manifests WHERE code = ?')
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
       status = CASE status WHEN 'WAITING_FOR_BUILD' THEN 'RUNNING' ELSE status END
     WHERE run_id = $runId AND token = $token AND state IN ('ready', 'parked')`,
  )
  const hold = database.prepare(
    `UPDATE runs SET state = 'parked', due_at = NULL, status = 'WAITING_FOR_BUILD'
     WHERE run_id = ? AND token = ? AND state IN ('ready', 'parked')`,
  )
  return {
    insert,
    insertManifest,
    trim,
    trimManifests,
    list,
    manifest,
    stranded,
    held,
    unowned,
    move,
    hold,
  }
}

function readCode(row: SqliteRow): Pick<StrandedRun, 'build' | 'ensemble' | 'code'> {
  return {
    build: String(row['build']),
    ensemble: String(row['ensemble']),
    code: String(row['code']),
  }
}

function readStranded(row: SqliteRow): StrandedRun {
  return {
    ...readCode(row),
    runId: String(row['run_id']),
    token: String(row['token']),
    isHeld: row['status'] === 'WAITING_FOR_BUILD',
    isCancelling: row['status'] === 'CANCELLING',
  }
}
