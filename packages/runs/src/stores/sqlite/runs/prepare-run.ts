/** Prepares a new run for the embedded store: its columns as text and numbers. */
import { prepareFork } from '../../shared/log/prepare-write.ts'
import { serializeOnce } from '../../../log/serialize-once.ts'
import { toNewRunRow } from '../../shared/runs/new-run.ts'
import { encodeRow } from '../../shared/schema/columns.ts'
import { toTagIndexes } from '../../shared/schema/tag-index.ts'
import { REQUEST_COLUMNS } from '../../shared/schema/table-columns.ts'
import { sqliteDialect } from '../schema/dialect.ts'
import { toStoredText } from './search-text.ts'
import { CHOSEN_COLUMNS, type PreparedRun } from '../rows/prepared-run.ts'

import type { NewRun } from '../../../domain/run-record.ts'
import type { CreateRunOptions } from '../../../ports/run-store.ts'

/** Prepares a run to create. */
export function prepareRun(
  run: NewRun,
  { firstEvent, maxUnfinishedRuns, quota, claimant, fork, refusal }: CreateRunOptions,
): PreparedRun {
  const { runId, ensemble, actor, submission, thread, code, startAt, priority, fairnessKey } = run
  const row = toNewRunRow(run)
  return {
    run: { runId, ensemble, actor, submission, thread, code, startAt, priority, fairnessKey },
    row: [...encodeRow(sqliteDialect.texts, CHOSEN_COLUMNS, row), JSON.stringify(run.tags)],
    request: encodeRow(sqliteDialect.texts, REQUEST_COLUMNS, row),
    text: toStoredText(run),
    tags: toTagIndexes(run.tags),
    firstEvent: { type: firstEvent.type, data: serializeOnce(firstEvent) },
    maxUnfinishedRuns,
    quota,
    claimant,
    fork: fork && {
      parent: fork.parent,
      copiedSteps: fork.copiedSteps,
      reviewIds: fork.reviewIds,
      prepared: prepareFork(fork),
    },
    isRefused: refusal !== undefined,
  }
}
