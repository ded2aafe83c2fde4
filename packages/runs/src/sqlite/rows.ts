/** Pure: between rows of the embedded store and records. */
import { addTokens } from '@tutti/ensemble'

import type { RunRecord, TaskRecord } from '../run-record.ts'
import type { TokenCount } from '@tutti/ensemble'
import type { RunStatus, TaskStatus, Workflow } from '@tutti/protocol'

/** A row as `node:sqlite` gives it. */
export type Row = Readonly<Record<string, unknown>>

/** The run of a row of table `runs`. */
export function toRun(row: Row): RunRecord {
  return {
    runId: text(row['run_id']),
    ensemble: text(row['ensemble']),
    // NOTE: casts at the boundary: this store only ever writes values of these types.
    workflow: text(row['workflow']) as Workflow,
    status: text(row['status']) as RunStatus,
    inputs: JSON.parse(text(row['inputs'])) as Record<string, string>,
    tags: JSON.parse(text(row['tags'])) as Record<string, string>,
    taskCount: Number(row['task_count']),
    completedTasks: Number(row['completed_tasks']),
    createdAt: Number(row['created_at']),
    ...optionalNumber('startedAt', row['started_at']),
    ...optionalNumber('completedAt', row['completed_at']),
    ...optionalNumber('durationMs', row['duration_ms']),
    ...optionalText('error', row['error']),
    epoch: Number(row['epoch']),
    lastSeq: Number(row['last_seq']),
  }
}

/** The task of a row of table `tasks`. */
export function toTask(row: Row): TaskRecord {
  return {
    taskIndex: Number(row['task_index']),
    name: text(row['name']),
    description: text(row['description']),
    agentRole: text(row['agent_role']),
    status: text(row['status']) as TaskStatus,
    attempt: Number(row['attempt']),
    ...optionalNumber('startedAt', row['started_at']),
    ...optionalNumber('completedAt', row['completed_at']),
    ...optionalNumber('durationMs', row['duration_ms']),
    ...addTokens([tokensOf(row, 'earlier_'), tokensOf(row, '')]),
    toolCallCount: Number(row['earlier_tool_call_count']) + Number(row['tool_call_count']),
    ...costOf(row),
    ...optionalText('output', row['output']),
    ...optionalText('error', row['error']),
  }
}

function tokensOf(row: Row, prefix: string): TokenCount {
  return {
    inputTokens: Number(row[`${prefix}input_tokens`]),
    outputTokens: Number(row[`${prefix}output_tokens`]),
  }
}

function costOf({ earlier_cost_usd: earlier, cost_usd: cost }: Row): { readonly costUsd?: number } {
  return earlier === null || cost === null ? {} : { costUsd: Number(earlier) + Number(cost) }
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function optionalText<K extends string>(key: K, value: unknown): Partial<Record<K, string>> {
  return typeof value === 'string' ? single(key, value) : {}
}

function optionalNumber<K extends string>(key: K, value: unknown): Partial<Record<K, number>> {
  return value === null || value === undefined ? {} : single(key, Number(value))
}

function single<K extends string, V>(key: K, value: V): Partial<Record<K, V>> {
  // NOTE: TypeScript widens a computed key to string.
  return { [key]: value } as Partial<Record<K, V>>
}
