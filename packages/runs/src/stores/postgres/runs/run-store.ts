/**
 * Stores runs in Postgres. A batch of writes is one statement, and so one transaction; see `commit-writes.ts`.
 */
import { TuttiError } from '@tutti/core'

import { runReads, toReviewCondition } from '../../shared/runs/read-runs.ts'
import { collectValues } from '../../shared/schema/dialect.ts'
import { postgresDialect } from '../schema/dialect.ts'
import { clampBytes } from '../../shared/query-numbers.ts'
import { createRun, groupCreations, type CreatingParts, type CreationGroup } from './create-run.ts'
import { commitWrites, type CommitAttempt } from '../log/commit-writes.ts'
import { prepareWrite, type UnpreparedWrite } from '../../shared/log/prepare-write.ts'
import {
  decideUnownedWrite,
  decideWrite,
  type DecidableWrite,
} from '../../shared/log/decide-write.ts'
import { deleteEnded, deleteOne, deleteSteps } from './delete-ended.ts'
import { listChangedRuns } from './list-changed-runs.ts'
import { queryRuns } from './list-runs.ts'
import { StepReader } from '../log/read-steps.ts'
import { postgresRecords } from '../rows/rows.ts'
import { toColumn } from '../database/text.ts'

import type {
  ChangedRunsPage,
  ChangedRunsQuery,
  CreatedRun,
  CreateRunOptions,
  UnownedWrite,
  Retention,
  ReviewQuery,
  RunListPage,
  RunQuery,
  RunStore,
  RunWrite,
  StepRetention,
  StepsQuery,
  WriteResult,
} from '../../../ports/run-store.ts'
import type { NewRun, ReviewRecord, RunRecord, TaskRecord } from '../../../domain/run-record.ts'
import type { RunStep } from '@tutti/ensemble/internal'

export class PostgresRunStore implements RunStore {
  readonly #parts: CreatingParts
  readonly #reads: ReturnType<typeof runReads>
  readonly #steps: StepReader
  readonly #creations: CreationGroup

  constructor(parts: CreatingParts) {
    this.#parts = parts
    const { requests } = parts
    this.#reads = runReads({
      dialect: postgresDialect,
      reader: postgresRecords,
      requests,
      selectRuns: 'SELECT * FROM $schema.runs',
    })
    this.#steps = new StepReader(parts.requests)
    this.#creations = groupCreations(parts)
  }

  create(run: NewRun, how: CreateRunOptions): Promise<CreatedRun> {
    return createRun(this.#parts, this.#creations, { run, how })
  }

  async commit(writes: readonly RunWrite[]): Promise<readonly WriteResult[]> {
    if (writes.length === 0) return []
    const results = await this.#commit(
      writes.map((write) => ({
        write,
        known: this.#parts.owned.find(write),
        decide: (row) => decideWrite(row, { ...write, ...toDecidable(write) }),
      })),
    )
    if (writes.length === 1 || results[0]?.kind !== 'failed') {
      return writes.map((_, index) => results[index] ?? results[0] ?? { kind: 'fenced' })
    }
    return this.#commitEachAlone(writes)
  }

  async commitUnowned(write: UnownedWrite): Promise<WriteResult> {
    const decide: CommitAttempt['decide'] = (row) =>
      decideUnownedWrite(row, { ...write, ...toDecidable(write) })
    const [result = { kind: 'fenced' }] = await this.#commit([{ write, known: undefined, decide }])
    return result
  }

  get(runId: string): Promise<RunRecord | undefined> {
    return this.#reads.get(runId)
  }

  tasks(runId: string): Promise<readonly TaskRecord[]> {
    return this.#reads.tasks(runId)
  }

  steps(runId: string, query: StepsQuery = {}): Promise<readonly RunStep[]> {
    return this.#steps.read(runId, query)
  }

  list(query: RunQuery): Promise<RunListPage> {
    return queryRuns(this.#parts.searches, query)
  }

  listByChange(query: ChangedRunsQuery): Promise<ChangedRunsPage> {
    return listChangedRuns(this.#parts.searches, query)
  }

  async reviews({
    maxBytes = Number.MAX_SAFE_INTEGER,
    ...query
  }: ReviewQuery): Promise<readonly ReviewRecord[]> {
    const { values, add } = collectValues(clampBytes(maxBytes))
    const rows = await this.#parts.requests.query(
      `SELECT * FROM (
         SELECT reviews.*, run_id, ensemble, inputs, tags, actor,
           sum(octet_length(reviews.request) + octet_length(inputs) + octet_length(tags))
             OVER (ORDER BY reviews.id)
           - octet_length(reviews.request) - octet_length(inputs) - octet_length(tags) AS before
         FROM $schema.reviews JOIN $schema.runs ON runs.id = run
         WHERE ${toReviewCondition(postgresDialect, query, add)}
       ) AS sized WHERE before < $1::int8 ORDER BY id`,
      values,
    )
    return rows.map((row) => postgresRecords.review(row))
  }

  countReviews(query: ReviewQuery): Promise<number> {
    return this.#reads.countReviews(query)
  }

  deleteEnded(which: Retention): Promise<readonly string[]> {
    return deleteEnded(this.#parts.requests, which)
  }

  deleteSteps(which: StepRetention): Promise<boolean> {
    return deleteSteps(this.#parts.requests, which)
  }

  async delete(runId: string): Promise<'deleted' | 'unfinished' | 'unknown'> {
    if (await deleteOne(this.#parts.requests, runId)) return 'deleted'
    const left = await this.#parts.requests.query('SELECT 1 FROM $schema.runs WHERE run_id = $1', [
      toColumn(runId),
    ])
    return left.length === 0 ? 'unknown' : 'unfinished'
  }

  /** Commits writes one by one. After the first that finds the store unavailable, the others are not tried. */
  async #commitEachAlone(writes: readonly RunWrite[]): Promise<readonly WriteResult[]> {
    const results: WriteResult[] = []
    for (const write of writes) {
      const last = results.at(-1)
      if (last?.kind === 'unavailable') results.push(last)
      else results.push(...(await this.commit([write])))
    }
    return results
  }

  /** Returns a single result if the statement fails. */
  async #commit(attempts: readonly CommitAttempt[]): Promise<readonly WriteResult[]> {
    try {
      return await commitWrites(this.#parts, attempts)
    } catch (error) {
      const isUnavailable = TuttiError.isInstance(error) && error.code === 'STORE_UNAVAILABLE'
      return [{ kind: isUnavailable ? 'unavailable' : 'failed', error }]
    }
  }
}

/** Returns what decides and stores a write; it is prepared when its position is known. */
function toDecidable(write: UnpreparedWrite): DecidableWrite {
  return {
    eventCount: write.events.length,
    prepare: (lastSeq) => prepareWrite(write, lastSeq),
  }
}
