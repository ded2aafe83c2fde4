/** Stores runs with all their data in the embedded store. */
import { prepareRunCreator } from './create-run.ts'
import { deleteEndedRuns, deleteOldSteps } from './delete-ended.ts'
import { listRunsByChange } from './list-changed-runs.ts'
import { listStoredRuns } from './list-runs.ts'
import { readReviews } from './read-reviews.ts'
import { runReads } from '../../shared/runs/read-runs.ts'
import { sqliteDialect } from '../schema/dialect.ts'
import { SELECT_RUNS } from '../rows/run-rows.ts'
import { sqliteRecords } from '../rows/rows.ts'
import { runTooLarge, runUnreadable } from '../../../domain/refusals.ts'
import { prepareLogInserters, prepareWriteStorer, type WriteStorer } from '../log/store-write.ts'
import {
  writeOwned,
  writeUnowned,
  type PreparedRunWrite,
  type PreparedUnownedWrite,
  type SqliteWriteResult,
  type WriteOutcome,
} from '../log/write-runs.ts'

import type {
  ChangedRunsPage,
  ChangedRunsQuery,
  Retention,
  ReviewQuery,
  RunListPage,
  RunQuery,
  RunStore,
  StepRetention,
  StepsQuery,
} from '../../../ports/run-store.ts'
import type { ReviewRecord, RunRecord, TaskRecord } from '../../../domain/run-record.ts'
import type { SqliteParts } from '../rows/parts.ts'
import type { PreparedRun, SqliteCreatedRun } from '../rows/prepared-run.ts'
import type { RunStep } from '@tutti/ensemble/internal'

/** The methods of the run store whose arguments and results are prepared for its thread. */
export interface SqliteRunWrites {
  create(run: PreparedRun): Promise<SqliteCreatedRun>
  /** As in `RunStore`. */
  commit(writes: readonly PreparedRunWrite[]): Promise<readonly SqliteWriteResult[]>
  commitUnowned(write: PreparedUnownedWrite): Promise<SqliteWriteResult>
}

/** The methods of the run store that are as in its port. */
export type SqliteRunReads = Omit<RunStore, keyof SqliteRunWrites>

/** The run store over an open database. */
export class SqliteRunStore implements SqliteRunWrites, SqliteRunReads {
  readonly #parts: SqliteParts
  readonly #store: WriteStorer
  readonly #create: (run: PreparedRun) => Promise<SqliteCreatedRun>
  readonly #reads: ReturnType<typeof runReads>

  constructor(parts: SqliteParts) {
    this.#parts = parts
    const log = prepareLogInserters(parts)
    this.#store = prepareWriteStorer(parts, log)
    this.#create = prepareRunCreator(parts, this.#store, log)
    this.#reads = runReads({
      dialect: sqliteDialect,
      reader: sqliteRecords,
      requests: parts.statements,
      selectRuns: SELECT_RUNS,
    })
  }

  create(run: PreparedRun): Promise<SqliteCreatedRun> {
    return this.#create(run)
  }

  async commit(writes: readonly PreparedRunWrite[]): Promise<readonly SqliteWriteResult[]> {
    const { inTurn } = this.#parts
    const ends = await Promise.allSettled(
      writes.map((write) => inTurn(() => writeOwned(this.#parts, this.#store, write))),
    )
    return this.#finish(
      ends.map((end) =>
        end.status === 'fulfilled'
          ? end.value
          : { result: this.#toFailure(end.reason), notifications: [] },
      ),
    )
  }

  async commitUnowned(write: PreparedUnownedWrite): Promise<SqliteWriteResult> {
    return this.#commitAlone(() => writeUnowned(this.#parts, this.#store, write))
  }

  get(runId: string): Promise<RunRecord | undefined> {
    return this.#reads.get(runId)
  }

  tasks(runId: string): Promise<readonly TaskRecord[]> {
    return this.#reads.tasks(runId)
  }

  async steps(
    runId: string,
    { maxBytes = Infinity, upTo }: StepsQuery = {},
  ): Promise<readonly RunStep[]> {
    const { rows } = this.#parts
    const found = rows.find(runId)
    if (found === undefined) return []
    const bytes = maxBytes === Infinity ? 0 : rows.stepBytes(found.id, upTo)
    if (bytes > maxBytes) throw runTooLarge(runId, bytes, maxBytes)
    try {
      return rows.steps(found.id, upTo)
    } catch (error) {
      throw runUnreadable(runId, 'steps', error)
    }
  }

  async list(query: RunQuery): Promise<RunListPage> {
    return listStoredRuns(this.#parts.statements, query)
  }

  async listByChange(query: ChangedRunsQuery): Promise<ChangedRunsPage> {
    return listRunsByChange(this.#parts.statements, query)
  }

  async reviews(query: ReviewQuery): Promise<readonly ReviewRecord[]> {
    return readReviews(this.#parts.statements, query)
  }

  countReviews(query: ReviewQuery): Promise<number> {
    return this.#reads.countReviews(query)
  }

  async deleteEnded(which: Retention): Promise<readonly string[]> {
    return deleteEndedRuns(this.#parts, which)
  }

  async deleteSteps(which: StepRetention): Promise<boolean> {
    return deleteOldSteps(this.#parts, which)
  }

  async delete(runId: string): Promise<'deleted' | 'unfinished' | 'unknown'> {
    const deleted = this.#parts.statements.count(
      `DELETE FROM runs WHERE run_id = $1 AND state = 'ended'`,
      [runId],
    )
    if (deleted > 0) return 'deleted'
    return (await this.get(runId)) === undefined ? 'unknown' : 'unfinished'
  }

  #commitAlone(body: () => WriteOutcome): SqliteWriteResult {
    try {
      const outcome = this.#parts.transaction(body)
      return this.#finish([outcome])[0] ?? outcome.result
    } catch (error) {
      return this.#toFailure(error)
    }
  }

  /** Removes erased texts from the write-ahead log; while a backup reads, they stay until a later checkpoint. */
  #truncateLog(): void {
    try {
      this.#parts.database.exec('PRAGMA wal_checkpoint(TRUNCATE)')
    } catch (error) {
      // The write is committed.
      this.#parts.disk.judge(error)
    }
  }

  #toFailure(error: unknown): SqliteWriteResult {
    const judged = this.#parts.disk.judge(error)
    return { kind: judged === error ? 'failed' : 'unavailable', error: judged }
  }

  #finish(outcomes: readonly WriteOutcome[]): readonly SqliteWriteResult[] {
    const { hub, owned } = this.#parts
    if (outcomes.some(({ stored }) => stored?.hasErased === true)) this.#truncateLog()
    for (const { stored } of outcomes) {
      if (stored?.after.row.state === 'owned') owned.remember(stored.after)
      else if (stored !== undefined) owned.forget(stored.after.row.run.runId)
    }
    hub.notify(outcomes.flatMap(({ notifications }) => notifications))
    return outcomes.map(({ result }) => result)
  }
}
