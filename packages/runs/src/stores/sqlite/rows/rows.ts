/**
 * Pure: converts rows of the embedded store to records.
 *
 * Text that models, tools and people write is stored as JSON: a text column is read up to its first NUL, and cannot hold
 * half of a surrogate pair.
 *
 * NOTE: casts below are at the boundary: this store only ever writes values of the types it reads back.
 */
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

import type { StoredReader } from '../../../log/read-stored.ts'
import type { CommandAnswer, PendingCommand } from '../../../ports/command-queue.ts'
import type { ListedRun, ReviewRecord, RunRecord, TaskRecord } from '../../../domain/run-record.ts'
import type { RunStep } from '@tutti/ensemble'
import type {
  FinishReason,
  LoggedRunEvent,
  RunStatus,
  TaskStatus,
  TokenTotals,
  Workflow,
} from '@tutti/protocol'

/** A row as `node:sqlite` returns it. */
export type SqliteRow = Readonly<Record<string, unknown>>

/** Reads a run from a row of table `runs`. */
export function readRun(row: SqliteRow): RunRecord {
  const columns = new ColumnReader(row)
  return {
    ...toSummary(columns),
    ...field('error', columns.text('error', parse)),
    ...columns.unreadable,
  }
}

/** Reads the columns of a run, without its error; a list reads only some of them. */
function toSummary(columns: ColumnReader): Omit<RunRecord, 'error' | 'unreadable'> {
  return {
    runId: columns.text('run_id', asStored) ?? '',
    ensemble: columns.text('ensemble', asStored) ?? '',
    workflow: (columns.text('workflow', asStored) ?? '') as Workflow,
    status: (columns.text('status', asStored) ?? '') as RunStatus,
    ...readJsonColumns(columns),
    ...field('threadId', columns.text('thread_id', asStored)),
    ...field('outputTask', columns.text('output_task', parse)),
    ...field('build', columns.text('build', asStored)),
    ...field('code', columns.text('code', asStored)),
    ...readRunNumbers(columns),
  }
}

/** Reads a run from a row of the list. */
export function readListedRun(row: SqliteRow): ListedRun {
  const columns = new ColumnReader(row)
  const { inputs: _, ...listed } = toSummary(columns)
  const currentName = columns.text('current_name', parse) ?? ''
  return {
    ...listed,
    ...readCutError(row['error_start']),
    ...readListedFields(columns, { hasTasks: row['total_tokens'] !== null, currentName }),
    ...columns.unreadable,
  }
}

/** Reads the first part of an error. */
export function readCutError(start: unknown): Pick<RunRecord, 'error'> {
  return typeof start === 'string' ? { error: parseCutText(start.slice(1).replace(/"$/, '')) } : {}
}

/** Reads a task from a row of table `tasks`. */
export function readTaskRecord(row: SqliteRow): TaskRecord {
  const columns = new ColumnReader(row)
  return {
    ...readTaskNumbers(columns),
    name: columns.text('name', parse) ?? '',
    description: columns.text('description', parse) ?? '',
    agentRole: columns.text('agent_role', parse) ?? '',
    status: (columns.text('status', asStored) ?? '') as TaskStatus,
    ...addTokens([readTokens(columns, 'earlier_'), readTokens(columns, '')]),
    toolCallCount:
      (columns.count('earlier_tool_call_count') ?? 0) + (columns.count('tool_call_count') ?? 0),
    ...readRunCost(columns),
    ...field('output', columns.text('output', parse)),
    ...readOutputOmitted(row),
    ...field('error', columns.text('error', parse)),
    ...readFinishReason(row),
    ...columns.unreadable,
  }
}

/** Reads a review from a row of table `reviews` with the id of its run. */
export function readReview(row: SqliteRow): ReviewRecord {
  const columns = new ColumnReader(row)
  const reviewId = columns.text('review_id', asStored) ?? ''
  return {
    reviewId,
    runId: columns.text('run_id', asStored) ?? '',
    status: (columns.text('status', asStored) ?? '') as ReviewRecord['status'],
    ensemble: columns.text('ensemble', asStored) ?? '',
    ...readReviewFields(columns, reviewId),
    ...field('decidedBy', columns.text('decided_by', parse)),
    ...columns.unreadable,
  }
}

/** Reads commands from rows of table `commands` with the id of their run. Damaged ones are left out (RUNS-P14). */
export function readPendingCommands(rows: readonly SqliteRow[]): readonly PendingCommand[] {
  return rows.flatMap((row) => {
    const command = new ColumnReader(row).json('command', 'an object')
    if (command === undefined) return []
    const id = text(row['command_id'])
    return [{ id, runId: text(row['run_id']), command: command as PendingCommand['command'] }]
  })
}

/** Reads the answer from a row of table `commands` that has one. */
export function toAnswer(row: SqliteRow): CommandAnswer {
  return parse(row['answer']) as CommandAnswer
}

/** Reads a step from a row of table `steps`. */
export function readStep(reader: StoredReader, row: SqliteRow): RunStep {
  return reader.read(text(row['data'])) as RunStep
}

/** Reads an event from a row of table `events`. */
export function readEvent(runId: string, reader: StoredReader, row: SqliteRow): LoggedRunEvent {
  const seq = Number(row['seq'])
  try {
    return toLoggedEvent(runId, seq, toStoredEvent(reader.read(text(row['data']))))
  } catch (error) {
    return toLoggedEvent(runId, seq, toUnreadableEvent(row['type'], error))
  }
}

function readTokens(columns: ColumnReader, prefix: string): TokenTotals {
  return {
    inputTokens: columns.count(`${prefix}input_tokens`) ?? -1,
    outputTokens: columns.count(`${prefix}output_tokens`) ?? -1,
  }
}

function readFinishReason({ finish_reason: reason }: SqliteRow): Pick<TaskRecord, 'finishReason'> {
  // NOTE: boundary cast: the column only ever gets values of the enum.
  return typeof reason === 'string' ? { finishReason: reason as FinishReason } : {}
}

function readRunCost(columns: ColumnReader): { readonly costUsd?: number } {
  const [earlier, cost] = [columns.amount('earlier_cost_usd'), columns.amount('cost_usd')]
  return earlier === undefined || cost === undefined ? {} : { costUsd: earlier + cost }
}

function asStored(stored: string): string {
  return stored
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function parse(json: unknown): unknown {
  return JSON.parse(text(json))
}
