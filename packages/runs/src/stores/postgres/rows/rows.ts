/** Pure: converts rows of the Postgres store to records. */
import { addTokens } from '@tutti/protocol'

import { toLoggedEvent } from '../../../log/serialize-once.ts'
import { ColumnReader } from '../../shared/column-reader.ts'
import { field } from '../../../domain/field.ts'
import {
  readListedFields,
  readOutputOmitted,
  parseCutText,
  readJsonColumns,
  readReviewFields,
  readRunNumbers,
  readTaskNumbers,
  toStoredEvent,
  toUnreadableEvent,
} from '../../shared/record-fields.ts'
import { fromColumn } from '../database/text.ts'

import type { StoredReader } from '../../../log/read-stored.ts'
import type { PendingCommand } from '../../../ports/command-queue.ts'
import type { ListedRun, ReviewRecord, RunRecord, TaskRecord } from '../../../domain/run-record.ts'
import type { PostgresRow } from '../database/database.ts'
import type { RunStep } from '@tutti/ensemble'
import type { FinishReason, LoggedRunEvent, TokenTotals } from '@tutti/protocol'

// NOTE: casts in this file are at the boundary: this store only ever writes values of these types.

/** A row of a run, with the fields that only the store uses. */
export interface PostgresRunRow {
  /** Row id; other tables refer to it. */
  readonly id: string
  readonly state: 'ready' | 'owned' | 'parked' | 'ended'
  readonly run: RunRecord
  /** Fencing token of its current claim or, when it is unowned, of its last change. */
  readonly token: string
  readonly writeNo: number
  readonly nextStep: number
  readonly lostOwners: number
  /** Number of commands that were queued so far. */
  readonly commands: number
  readonly fingerprint: string | null
}

/** Reads a row of table `runs`. */
export function toRunRow(row: PostgresRow): PostgresRunRow {
  const { id, state, write_no: writeNo, next_step: nextStep, lost_owners: lostOwners } = row
  return {
    id: String(id),
    state: state as PostgresRunRow['state'],
    run: toRun(row),
    token: String(row['token']),
    writeNo: Number(writeNo),
    nextStep: Number(nextStep),
    lostOwners: Number(lostOwners),
    commands: Number(row['commands']),
    fingerprint: new ColumnReader(row).text('fingerprint', fromColumn) ?? null,
  }
}

/** Reads the run of a row of table `runs`, without the fields that only the store uses. */
export function toRun(row: PostgresRow): RunRecord {
  const columns = new ColumnReader(row)
  return {
    ...toSummary(columns),
    ...field('error', columns.text('error', fromColumn)),
    ...columns.unreadable,
  }
}

/** Reads the columns of a run, without its error; a list reads only some of them. */
function toSummary(columns: ColumnReader): Omit<RunRecord, 'error' | 'unreadable'> {
  return {
    runId: columns.text('run_id', fromColumn) ?? '',
    ensemble: columns.text('ensemble', fromColumn) ?? '',
    workflow: (columns.text('workflow', asStored) ?? '') as RunRecord['workflow'],
    status: (columns.text('status', asStored) ?? '') as RunRecord['status'],
    ...readJsonColumns(columns),
    ...field('threadId', columns.text('thread_id', fromColumn)),
    ...field('outputTask', columns.text('output_task', fromColumn)),
    ...field('build', columns.text('build', fromColumn)),
    ...field('code', columns.text('code', fromColumn)),
    ...readRunNumbers(columns),
  }
}

/** Reads a run from a row of the list. */
export function toListedRun(row: PostgresRow): ListedRun {
  const { error_start: error } = row
  const columns = new ColumnReader(row)
  const { inputs: _, ...listed } = toSummary(columns)
  const currentName = columns.text('current_name', fromColumn) ?? ''
  return {
    ...listed,
    ...(typeof error === 'string' ? { error: parseCutText(error) } : {}),
    ...readListedFields(columns, { hasTasks: row['total_tokens'] !== null, currentName }),
    ...columns.unreadable,
  }
}

/** Usage of attempts; a null cost is unknown. */
export interface StoredUsage extends TokenTotals {
  readonly toolCallCount: number
  readonly costUsd: number | null
}

/** A task, with separate usage of the current attempt and of earlier ones. */
export interface PostgresTaskRow {
  readonly task: Omit<TaskRecord, keyof StoredUsage>
  readonly used: StoredUsage
  readonly earlier: StoredUsage
}

/** Reads a row of table `tasks`. */
export function toTaskRow(row: PostgresRow): PostgresTaskRow {
  const columns = new ColumnReader(row)
  const used = readUsage(columns, '')
  const earlier = readUsage(columns, 'earlier_')
  return {
    task: {
      ...readTaskNumbers(columns),
      name: columns.text('name', fromColumn) ?? '',
      description: columns.text('description', fromColumn) ?? '',
      agentRole: columns.text('agent_role', fromColumn) ?? '',
      status: (columns.text('status', asStored) ?? '') as TaskRecord['status'],
      ...field('output', columns.text('output', fromColumn)),
      ...readOutputOmitted(row),
      ...field('error', columns.text('error', fromColumn)),
      ...readFinishReason(row),
      ...columns.unreadable,
    },
    used,
    earlier,
  }
}

/** Reads the record of a task from a row of table `tasks`. */
export function toTask(row: PostgresRow): TaskRecord {
  const { task, used, earlier } = toTaskRow(row)
  const { costUsd, ...total } = addUsed(earlier, used)
  return { ...task, ...total, ...(costUsd === null ? {} : { costUsd }) }
}

/** Adds usage. An unknown value makes the sum unknown. */
export function addUsed(a: StoredUsage, b: StoredUsage): StoredUsage {
  return {
    ...addTokens([pickTokens(a), pickTokens(b)]),
    toolCallCount: a.toolCallCount + b.toolCallCount,
    costUsd: a.costUsd === null || b.costUsd === null ? null : a.costUsd + b.costUsd,
  }
}

/** Reads a review from a row of table `reviews` with the `run_id` of its run. */
export function toReview(row: PostgresRow): ReviewRecord {
  const columns = new ColumnReader(row)
  const reviewId = columns.text('review_id', fromColumn) ?? ''
  return {
    reviewId,
    runId: columns.text('run_id', fromColumn) ?? '',
    status: (columns.text('status', asStored) ?? '') as ReviewRecord['status'],
    ensemble: columns.text('ensemble', fromColumn) ?? '',
    ...readReviewFields(columns, reviewId),
    ...field('decidedBy', columns.text('decided_by', fromColumn)),
    ...columns.unreadable,
  }
}

/** Reads commands from rows of table `commands` with the `run_id` of their run. Damaged ones are left out (RUNS-P14). */
export function toPendingCommands(rows: readonly PostgresRow[]): readonly PendingCommand[] {
  return rows.flatMap((row) => {
    const command = new ColumnReader(row).json('command', 'an object')
    if (command === undefined) return []
    const runId = fromColumn(String(row['run_id']))
    return [{ id: String(row['command_id']), runId, command: command as PendingCommand['command'] }]
  })
}

/** Reads a step from a row of table `steps`. */
export function toStep(reader: StoredReader, row: PostgresRow): RunStep {
  return reader.read(String(row['data'])) as RunStep
}

/** Reads an event from a row of table `events`. */
export function toEvent(runId: string, reader: StoredReader, row: PostgresRow): LoggedRunEvent {
  const seq = Number(row['seq'])
  try {
    return toLoggedEvent(runId, seq, toStoredEvent(reader.read(String(row['data']))))
  } catch (error) {
    return toLoggedEvent(runId, seq, toUnreadableEvent(row['type'], error))
  }
}

function readFinishReason({
  finish_reason: reason,
}: PostgresRow): Pick<TaskRecord, 'finishReason'> {
  // NOTE: boundary cast: the column only ever gets values of the enum.
  return typeof reason === 'string' ? { finishReason: reason as FinishReason } : {}
}

function readUsage(columns: ColumnReader, prefix: string): StoredUsage {
  return {
    inputTokens: columns.count(`${prefix}input_tokens`) ?? -1,
    outputTokens: columns.count(`${prefix}output_tokens`) ?? -1,
    toolCallCount: columns.count(`${prefix}tool_call_count`) ?? 0,
    costUsd: columns.amount(`${prefix}cost_usd`) ?? null,
  }
}

function pickTokens({ inputTokens, outputTokens }: StoredUsage): TokenTotals {
  return { inputTokens, outputTokens }
}

function asStored(stored: string): string {
  return stored
}
