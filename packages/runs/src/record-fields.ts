/** Pure: conversions between columns and records that all stores share. */
import { errorMessage } from '@tutti/core'

import type { ThreadRunPage } from './ports/thread-store.ts'
import type { ThreadRunRecord } from './thread-record.ts'
import type { ClaimedDelivery } from './ports/webhook-outbox.ts'
import type { NewestThreadRun } from './refusals.ts'
import type { ListedRun, NewRun, RunRecord } from './run-record.ts'
import type { RunEvent } from '@tutti/protocol'

/** Returns a field with the number of a column; no field when the column is NULL. */
export function numberField<K extends string>(key: K, value: unknown): Partial<Record<K, number>> {
  return value === null || value === undefined ? {} : field(key, Number(value))
}

/**
 * Reads the fields that a list shows in addition to the run's record from the columns `total_tokens`,
 * `total_tool_calls`, `known_cost_usd`, `open_reviews` and `current_index`. For a run without tasks, the columns about
 * tasks are NULL.
 */
export function readListedFields(
  row: Readonly<Record<string, unknown>>,
  currentName: string,
): Omit<ListedRun, keyof RunRecord> {
  const index = row['current_index']
  const hasTasks = row['total_tokens'] !== null
  return {
    place: Number(row['id']),
    totalTokens: Number(row['total_tokens']),
    totalToolCalls: Number(row['total_tool_calls']),
    ...(hasTasks ? numberField('costUsd', row['known_cost_usd']) : { costUsd: 0 }),
    ...(index === null ? {} : { currentTask: { name: currentName, taskIndex: Number(index) } }),
    openReviews: Number(row['open_reviews']),
  }
}

/** Columns of a run that a list reads; `error_start` is the first part of `error`. */
export const LISTED_COLUMNS = `id, run_id, ensemble, workflow, status, state, tags, task_count,
  completed_tasks, created_at, started_at, completed_at, duration_ms, epoch, last_seq, actor, thread_id, parent, build, code,
  substr(error, 1, 2000) AS error_start`

/** Parses the inside of a JSON string that may be cut anywhere, even within an escape. */
export function parseCutText(inside: string): string {
  // The longest escape, \u1234, has six characters.
  for (let end = inside.length; end > inside.length - 6; end -= 1) {
    try {
      return String(JSON.parse(`"${inside.slice(0, end)}"`))
    } catch {
      continue
    }
  }
  return ''
}

/** Size of the outputs of a run's tasks after which no earlier output is read, in characters. */
const MAX_OUTPUTS = 4_000_000

/**
 * The columns of tasks. Outputs before the last `MAX_OUTPUTS` characters are not read: a run may store many times
 * more than one response may hold.
 */
export const TASK_COLUMNS = [
  'task_index, name, description, agent_role, tasks.status, attempt, tasks.started_at',
  'tasks.completed_at, tasks.duration_ms, input_tokens, output_tokens, tool_call_count',
  'tasks.cost_usd, earlier_cost_usd, earlier_input_tokens, earlier_output_tokens',
  'earlier_tool_call_count, finish_reason, tasks.error',
  `CASE WHEN sum(length(output)) OVER (ORDER BY task_index DESC) - length(output) < ${MAX_OUTPUTS}
   THEN output END AS output`,
  'output IS NOT NULL AS has_output',
].join(', ')

/** Whether the output of a row was left out; see `TASK_COLUMNS`. */
export function readOutputOmitted(row: Readonly<Record<string, unknown>>): {
  readonly outputOmitted?: true
} {
  return row['output'] === null && Boolean(row['has_output']) ? { outputOmitted: true } : {}
}

/** Returns the values of the columns `request`, `actor` and `webhooks`: JSON, or NULL. */
export function toSubmittedColumns({
  request,
  actor,
  webhooks = [],
}: Pick<NewRun, 'request' | 'actor' | 'webhooks'>): readonly (string | null)[] {
  return [request, actor, webhooks.length === 0 ? undefined : webhooks].map((value) =>
    value === undefined ? null : JSON.stringify(value),
  )
}

/** Reads the newest run of a thread from the columns `number`, `run_id` and `state`. */
export function readNewest(
  { number, run_id: runId, state }: Readonly<Record<string, unknown>>,
  toText: (column: string) => string,
): NewestThreadRun {
  return {
    number: Number(number),
    ...field('runId', typeof runId === 'string' ? toText(runId) : undefined),
    hasEnded: state === 'ended',
  }
}

/** Returns the page of a thread's runs; `found` counts those that were read, at most one more than `limit`. */
export function toThreadRunPage(
  runs: readonly ThreadRunRecord[],
  found: number,
  limit: number,
): ThreadRunPage {
  const page = runs.slice(0, limit)
  return { runs: page, hasMore: found > page.length }
}

/** Columns of a run that contain JSON. */
const JSON_COLUMNS = ['inputs', 'tags', 'request', 'actor', 'webhooks', 'parent'] as const

/** Fields of a run that are stored as JSON. */
type JsonFields = Pick<RunRecord, (typeof JSON_COLUMNS)[number] | 'unreadable'>

/** Reads the JSON columns that a row of `runs` has. Damaged columns are left out and named in `unreadable` (RUNS-P14). */
export function readJsonColumns(row: Readonly<Record<string, unknown>>): JsonFields {
  const read: Record<string, unknown> = {}
  const damaged: string[] = []
  for (const column of JSON_COLUMNS) {
    const stored = row[column]
    if (typeof stored !== 'string') continue
    try {
      read[column] = JSON.parse(stored)
    } catch (error) {
      damaged.push(`${column}: ${errorMessage(error)}`)
    }
  }
  // NOTE: a cast at the boundary: stores only ever write values of these types.
  return {
    inputs: {},
    tags: {},
    ...(read as Partial<JsonFields>),
    ...(damaged.length === 0 ? {} : { unreadable: damaged.join('; ') }),
  }
}

/** Returns the id of a delivery, which is the same for every attempt. A run id contains no colon. */
export function formatDeliveryId({ runId, seq, webhook }: DeliveryParts): string {
  return `${runId}:${seq}:${webhook}`
}

/** Parses a delivery id; returns undefined when it is invalid. */
export function parseDeliveryId(id: string): DeliveryParts | undefined {
  const [, runId, seq, webhook] = /^([^:]*):(\d{1,9}):(.*)$/s.exec(id) ?? []
  if (runId === undefined || seq === undefined || webhook === undefined) return undefined
  return { runId, seq: Number(seq), webhook }
}

/** The fields that identify a delivery. */
export type DeliveryParts = Pick<ClaimedDelivery, 'runId' | 'seq' | 'webhook'>

/** Whether the event is delivered to the webhooks of the run (RUNS-O1). */
export function isDelivered({ type }: RunEvent): boolean {
  return type === 'run_result' || type === 'review_requested'
}

/** Returns an object with one field, or without fields when the value is undefined. */
export function field<K extends string, V>(
  key: K,
  value: V,
): Partial<Record<K, Exclude<V, undefined>>> {
  if (value === undefined) return {}
  // NOTE: TypeScript widens a computed key to string.
  return { [key]: value } as Partial<Record<K, Exclude<V, undefined>>>
}
