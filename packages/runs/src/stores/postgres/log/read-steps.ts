/**
 * Reads the steps of runs. A process claims many runs at once, above all those of a lost process, and each of them reads
 * its steps before it continues. Small steps that are asked for in the same turn of the event loop are read with one
 * statement.
 */
import { setImmediate } from 'node:timers/promises'

import { runTooLarge, runUnreadable } from '../../../domain/refusals.ts'
import { loadValues, type ValueSource } from './load-values.ts'
import { readStep } from '../../shared/read-records.ts'
import { fromColumn, toColumn } from '../database/text.ts'

import type { StepsQuery } from '../../../ports/run-store.ts'
import type { Database } from '../database/database.ts'
import type { RunStep } from '@tutti/ensemble/internal'
import type { StoredRow } from '../../shared/column-reader.ts'

/** The greatest sequence number that its column can hold. */
const MAX_SEQ = 2 ** 31 - 1

/** Maximum size of the steps of a run that are read together with those of other runs, in bytes. */
const SMALL_BYTES = 64 * 1024

/** Reads that wait for one statement. */
interface Batch {
  readonly runIds: Set<string>
  /** The rows of each run whose steps are small. */
  readonly small: Promise<ReadonlyMap<string, readonly StoredRow[]>>
}

/** Reads steps. */
export class StepReader {
  readonly #requests: Database
  #batch: Batch | undefined

  constructor(requests: Database) {
    this.#requests = requests
  }

  /** Reads the steps of a run; see `RunStore.steps`. */
  async read(runId: string, query: StepsQuery): Promise<readonly RunStep[]> {
    const { maxBytes = Infinity, upTo } = query
    if (upTo === undefined && maxBytes >= SMALL_BYTES) {
      const rows = await this.#readSmall(runId)
      if (rows !== undefined) return toSteps({ runId, session: this.#requests }, rows)
    }
    // A transaction, which has longer than a read that a person waits for.
    return this.#requests.transaction({}, async (session) => {
      const { schema } = session
      const ofRun = `FROM ${schema}.steps JOIN ${schema}.runs ON runs.id = run
        WHERE run_id = $1 AND seq <= $2`
      const values = [toColumn(runId), upTo ?? MAX_SEQ]
      if (maxBytes !== Infinity) {
        const [sum] = await session.query(
          `SELECT sum(coalesce(bytes, octet_length(data))) AS bytes ${ofRun}`,
          values,
        )
        const bytes = Number(sum?.['bytes'])
        if (bytes > maxBytes) throw runTooLarge(runId, bytes, maxBytes)
      }
      const rows = await session.query(`SELECT n, data ${ofRun} ORDER BY n`, values)
      return toSteps({ runId, session }, rows)
    })
  }

  /** Resolves with the rows of a run, or with undefined if it is read alone. */
  async #readSmall(runId: string): Promise<readonly StoredRow[] | undefined> {
    this.#batch ??= this.#startBatch()
    const { runIds, small } = this.#batch
    runIds.add(runId)
    return (await small).get(runId)
  }

  #startBatch(): Batch {
    const runIds = new Set<string>()
    const small = setImmediate().then(() => {
      this.#batch = undefined
      // Each run is then read alone, and fails alone.
      return readSmall(this.#requests, [...runIds]).catch(() => new Map())
    })
    return { runIds, small }
  }
}

/** Reads the steps of those of the runs that have few. */
async function readSmall(
  requests: Database,
  runIds: readonly string[],
): Promise<ReadonlyMap<string, readonly StoredRow[]>> {
  const { schema } = requests
  const rows = await requests.query(
    `SELECT run_id, n, data FROM (
       SELECT id, run_id,
         (SELECT sum(coalesce(bytes, octet_length(data))) FROM ${schema}.steps WHERE run = id) AS total
       FROM ${schema}.runs WHERE run_id = ANY($1)
     ) AS sized LEFT JOIN ${schema}.steps ON run = id
     WHERE coalesce(total, 0) <= ${SMALL_BYTES} ORDER BY id, n`,
    [runIds.map(toColumn)],
  )
  const byRun = new Map<string, StoredRow[]>()
  for (const row of rows) {
    const runId = fromColumn(String(row['run_id']))
    const steps = byRun.get(runId) ?? []
    // A run without steps has one row.
    if (row['data'] !== null) steps.push(row)
    byRun.set(runId, steps)
  }
  return byRun
}

/** Returns no steps of a run whose first one is deleted: the others are deleted soon (RUNS-P18). */
async function toSteps(
  source: ValueSource,
  rows: readonly StoredRow[],
): Promise<readonly RunStep[]> {
  if (Number(rows[0]?.['n'] ?? 0) > 0) return []
  const reader = await loadValues(source, rows)
  try {
    return rows.map((row) => readStep(reader, row))
  } catch (error) {
    throw runUnreadable(source.runId, 'steps', error)
  }
}
