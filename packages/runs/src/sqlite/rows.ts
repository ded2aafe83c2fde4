/**
 * Pure: converts rows of the embedded store to records.
 *
 * Text that models, tools and people write is stored as JSON: a text column is read up to its first NUL, and cannot hold
 * half of a surrogate pair.
 *
 * NOTE: casts below are at the boundary: this store only ever writes values of the types it reads back.
 */
import { addTokens } from '@tutti/ensemble'

import { toLoggedEvent } from '../commit/serialize-once.ts'
import {
  field,
  readListedFields,
  readOutputOmitted,
  numberField,
  parseCutText,
  readJsonColumns,
} from '../record-fields.ts'

import type { StoredReader } from '../commit/read-stored.ts'
import type { CommandAnswer, PendingCommand } from '../ports/command-queue.ts'
import type { ListedRun, ReviewRecord, RunRecord, TaskRecord } from '../run-record.ts'
import type { RunStep, TokenTotals } from '@tutti/ensemble'
import type {
  FinishReason,
  LoggedRunEvent,
  RunEvent,
  RunStatus,
  TaskStatus,
  Workflow,
} from '@tutti/protocol'

/** A row as `node:sqlite` returns it. */
export type SqliteRow = Readonly<Record<string, unknown>>

/** Reads a run from a row of table `runs`. */
export function readRun(row: SqliteRow): RunRecord {
  return {
    ...toSummary(row),
    ...optionalJson('error', row['error']),
  }
}

/** Reads the columns of a run, without its error; a list reads only some of them. */
function toSummary(row: SqliteRow): Omit<RunRecord, 'error'> {
  return {
    runId: text(row['run_id']),
    ensemble: text(row['ensemble']),
    workflow: text(row['workflow']) as Workflow,
    status: text(row['status']) as RunStatus,
    ...readJsonColumns(row),
    ...(typeof row['thread_id'] === 'string' ? { threadId: row['thread_id'] } : {}),
    ...(typeof row['build'] === 'string' ? { build: row['build'] } : {}),
    ...(typeof row['code'] === 'string' ? { code: row['code'] } : {}),
    taskCount: Number(row['task_count']),
    completedTasks: Number(row['completed_tasks']),
    createdAt: Number(row['created_at']),
    ...numberField('startedAt', row['started_at']),
    ...numberField('completedAt', row['completed_at']),
    ...numberField('durationMs', row['duration_ms']),
    epoch: Number(row['epoch']),
    lastSeq: Number(row['last_seq']),
  }
}

/** Reads a run from a row of the list. */
export function readListedRun(row: SqliteRow): ListedRun {
  const { current_name: name } = row
  const { inputs: _, ...listed } = toSummary(row)
  return {
    ...listed,
    ...readCutError(row['error_start']),
    ...readListedFields(row, name === null ? '' : String(parse(name))),
  }
}

/** Reads the first part of an error. */
export function readCutError(start: unknown): Pick<RunRecord, 'error'> {
  return typeof start === 'string' ? { error: parseCutText(start.slice(1).replace(/"$/, '')) } : {}
}

/** Reads a task from a row of table `tasks`. */
export function readTaskRecord(row: SqliteRow): TaskRecord {
  return {
    taskIndex: Number(row['task_index']),
    name: String(parse(row['name'])),
    description: String(parse(row['description'])),
    agentRole: String(parse(row['agent_role'])),
    status: text(row['status']) as TaskStatus,
    attempt: Number(row['attempt']),
    ...numberField('startedAt', row['started_at']),
    ...numberField('completedAt', row['completed_at']),
    ...numberField('durationMs', row['duration_ms']),
    ...addTokens([readTokens(row, 'earlier_'), readTokens(row, '')]),
    toolCallCount: Number(row['earlier_tool_call_count']) + Number(row['tool_call_count']),
    ...readCost(row),
    ...optionalJson('output', row['output']),
    ...readOutputOmitted(row),
    ...optionalJson('error', row['error']),
    ...readFinishReason(row),
  }
}

/** Reads a review from a row of table `reviews` with the id of its run. */
export function readReview(row: SqliteRow): ReviewRecord {
  return {
    reviewId: text(row['review_id']),
    runId: text(row['run_id']),
    status: text(row['status']) as ReviewRecord['status'],
    request: parse(row['request']) as ReviewRecord['request'],
    ensemble: text(row['ensemble']),
    inputs: parse(row['inputs']) as ReviewRecord['inputs'],
    tags: parse(row['tags']) as ReviewRecord['tags'],
    openedAt: Number(row['opened_at']),
    ...numberField('expiresAt', row['expires_at']),
    ...optionalJson('decidedBy', row['decided_by']),
  }
}

/** Reads a command from a row of table `signals` with the id of its run. */
export function readPendingCommand(row: SqliteRow): PendingCommand {
  return {
    id: text(row['signal_id']),
    runId: text(row['run_id']),
    command: parse(row['wish']) as PendingCommand['command'],
  }
}

/** Reads the answer from a row of table `signals` that has one. */
export function toAnswer(row: SqliteRow): CommandAnswer {
  return parse(row['answer']) as CommandAnswer
}

/** Reads a step from a row of table `steps`. */
export function readStep(reader: StoredReader, row: SqliteRow): RunStep {
  return reader.read(text(row['data'])) as RunStep
}

/** Reads an event from a row of table `events`. */
export function readEvent(runId: string, reader: StoredReader, row: SqliteRow): LoggedRunEvent {
  return toLoggedEvent(runId, Number(row['seq']), reader.read(text(row['data'])) as RunEvent)
}

function readTokens(row: SqliteRow, prefix: string): TokenTotals {
  return {
    inputTokens: Number(row[`${prefix}input_tokens`]),
    outputTokens: Number(row[`${prefix}output_tokens`]),
  }
}

function readFinishReason({ finish_reason: reason }: SqliteRow): Pick<TaskRecord, 'finishReason'> {
  // NOTE: boundary cast: the column only ever gets values of the enum.
  return typeof reason === 'string' ? { finishReason: reason as FinishReason } : {}
}

function readCost({ earlier_cost_usd: earlier, cost_usd: cost }: SqliteRow): {
  readonly costUsd?: number
} {
  return earlier === null || cost === null ? {} : { costUsd: Number(earlier) + Number(cost) }
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function parse(json: unknown): unknown {
  return JSON.parse(text(json))
}

function optionalJson<K extends string>(key: K, value: unknown): Partial<Record<K, string>> {
  return typeof value === 'string' ? field(key, String(parse(value))) : {}
}
