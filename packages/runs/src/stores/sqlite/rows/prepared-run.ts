/** A new run as the thread of the embedded store gets it, and the outcome. */
import { NEW_RUN_COLUMNS } from '../../shared/schema/table-columns.ts'

import type { PreparedEvent, PreparedWrite } from '../../../log/prepared-write.ts'
import type { Quota } from '../../../domain/quota.ts'
import type { NewRun } from '../../../domain/run-record.ts'
import type { Claimant, CreatedRun, ForkedLog } from '../../../ports/run-store.ts'
import type { ClaimedRun } from '../../../ports/run-queue.ts'

/** The columns that are known before the run is created. Its code is that of its owner, if it has one. */
const { build: _, code: _code, ...CHOSEN } = NEW_RUN_COLUMNS
export const CHOSEN_COLUMNS = CHOSEN

/** The fields of a new run that decide its creation and its owner. */
export interface DecidingFields extends Pick<NewRun, 'runId' | 'ensemble'> {
  readonly actor: NewRun['actor'] | undefined
  readonly submission: NewRun['submission'] | undefined
  readonly thread: NewRun['thread'] | undefined
  readonly code: NewRun['code'] | undefined
  readonly startAt: NewRun['startAt'] | undefined
  readonly priority: NewRun['priority'] | undefined
  readonly fairnessKey: NewRun['fairnessKey'] | undefined
}

/** A run to create. */
export interface PreparedRun {
  readonly run: DecidingFields
  /** Values of {@link CHOSEN_COLUMNS} and of the tags. */
  readonly row: readonly unknown[]
  /** Values of `REQUEST_COLUMNS`. */
  readonly request: readonly unknown[]
  /** Text that searches find. */
  readonly text: string
  /** Index values of the tags. */
  readonly tags: readonly string[]
  readonly firstEvent: Pick<PreparedEvent, 'type' | 'data'>
  readonly maxUnfinishedRuns: number
  readonly quota: Quota | undefined
  readonly claimant: Claimant | undefined
  readonly fork: PreparedFork | undefined
  /** Whether the run is refused unless it repeats an earlier submission. */
  readonly isRefused: boolean
}

/** The log of a fork; `prepared` is what follows the copied events. */
export interface PreparedFork extends Pick<ForkedLog, 'parent' | 'copiedSteps' | 'reviewIds'> {
  readonly prepared: PreparedWrite
}

/** The result of a submission, without its event. */
export type SqliteCreatedRun =
  | { readonly kind: 'created'; readonly claim?: ClaimedRun }
  | { readonly kind: 'refused' }
  | Exclude<CreatedRun, { kind: 'created' }>
