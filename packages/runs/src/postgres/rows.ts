/** Pure: converts rows of the Postgres store to records. */
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
import { fromColumn } from './text.ts'

import type { StoredReader } from '../commit/read-stored.ts'
import type { PendingCommand } from '../ports/command-queue.ts'
import type { ListedRun, ReviewRecord, RunRecord, TaskRecord } from '../run-record.ts'
import type { PostgresRow } from './database.ts'
import type { RunStep, TokenTotals } from '@tutti/ensemble'
import type { FinishReason, LoggedRunEvent, RunEvent } from '@tutti/protocol'

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
    fingerprint: typeof row['fingerprint'] === 'string' ? fromColumn(row['fingerprint']) : null,
  }
}

/** Reads the run of a row of table `runs`, without the fields that only the store uses. */
export function toRun(row: PostgresRow): RunRecord {
  return {
    ...toSummary(row),
    ...optionalText('error', row['error']),
  }
}

/** Reads the columns of a run, without its error; a list reads only some of them. */
function toSummary(row: PostgresRow): Omit<RunRecord, 'error'> {
  return {
    runId: text(row['run_id']),
    ensemble: text(row['ensemble']),
    workflow: row['workflow'] as RunRecord['workflow'],
    status: row['status'] as RunRecord['status'],
    ...readJsonColumns(row),
    ...optionalText('threadId', row['thread_id']),
    ...optionalText('build', row['build']),
    ...optionalText('code', row['code']),
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
export function toListedRun(row: PostgresRow): ListedRun {
  const { error_start: error } = row
  const { inputs: _, ...listed } = toSummary(row)
  return {
    ...listed,
    ...(typeof error === 'string' ? { error: parseCutText(error) } : {}),
    ...readListedFields(row, text(row['current_name'])),
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
  return {
    task: {
      taskIndex: Number(row['task_index']),
      name: text(row['name']),
      description: text(row['description']),
      agentRole: text(row['agent_role']),
      status: row['status'] as TaskRecord['status'],
      attempt: Number(row['attempt']),
      ...numberField('startedAt', row['started_at']),
      ...numberField('completedAt', row['completed_at']),
      ...numberField('durationMs', row['duration_ms']),
      ...optionalText('output', row['output']),
      ...readOutputOmitted(row),
      ...optionalText('error', row['error']),
      ...readFinishReason(row),
    },
    used: readUsage(row, ''),
    earlier: readUsage(row, 'earlier_'),
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
  return {
    reviewId: text(row['review_id']),
    runId: text(row['run_id']),
    status: row['status'] as ReviewRecord['status'],
    request: JSON.parse(String(row['request'])) as ReviewRecord['request'],
    ensemble: text(row['ensemble']),
    inputs: JSON.parse(String(row['inputs'])) as ReviewRecord['inputs'],
    tags: JSON.parse(String(row['tags'])) as ReviewRecord['tags'],
    openedAt: Number(row['opened_at']),
    ...numberField('expiresAt', row['expires_at']),
    ...optionalText('decidedBy', row['decided_by']),
  }
}

/** Reads a command from a row of table `signals` with the `run_id` of its run. */
export function toPendingCommand(row: PostgresRow): PendingCommand {
  return {
    id: String(row['signal_id']),
    runId: text(row['run_id']),
    command: JSON.parse(String(row['wish'])) as PendingCommand['command'],
  }
}

/** Reads a step from a row of table `steps`. */
export function toStep(reader: StoredReader, row: PostgresRow): RunStep {
  return reader.read(String(row['data'])) as RunStep
}

/** Reads an event from a row of table `events`. */
export function toEvent(runId: string, reader: StoredReader, row: PostgresRow): LoggedRunEvent {
  return toLoggedEvent(runId, Number(row['seq']), reader.read(String(row['data'])) as RunEvent)
}

function readFinishReason({
  finish_reason: reason,
}: PostgresRow): Pick<TaskRecord, 'finishReason'> {
  // NOTE: boundary cast: the column only ever gets values of the enum.
  return typeof reason === 'string' ? { finishReason: reason as FinishReason } : {}
}

function readUsage(row: PostgresRow, prefix: string): StoredUsage {
  const costUsd = row[`${prefix}cost_usd`]
  return {
    inputTokens: Number(row[`${prefix}input_tokens`]),
    outputTokens: Number(row[`${prefix}output_tokens`]),
    toolCallCount: Number(row[`${prefix}tool_call_count`]),
    costUsd: typeof costUsd === 'number' ? costUsd : null,
  }
}

function pickTokens({ inputTokens, outputTokens }: StoredUsage): TokenTotals {
  return { inputTokens, outputTokens }
}

function text(value: unknown): string {
  return typeof value === 'string' ? fromColumn(value) : ''
}

function optionalText<K extends string>(key: K, value: unknown): Partial<Record<K, string>> {
  return typeof value === 'string' ? field(key, fromColumn(value)) : {}
}
