/** Pure: conversions between columns and records that all stores share. */
import type { ThreadRunPage } from '../../ports/thread-store.ts'
import type { ThreadRunRecord } from '../../domain/thread-record.ts'
import type { ClaimedDelivery } from '../../ports/webhook-outbox.ts'
import { errorMessage } from '@tutti/core/basics'
import type { RunEvent, RunEventOf } from '@tutti/protocol'
import { isJsonObject } from '@tutti/protocol/basics'

import { ColumnReader } from './column-reader.ts'
import { listColumnNames } from './schema/columns.ts'
import { LISTED_RUN_COLUMNS, TASK_COLUMNS } from './schema/table-columns.ts'
import { field } from '../../domain/field.ts'

import type { NewAuditEntry } from '../../ports/audit-log.ts'
import type { NewestThreadRun } from '../../domain/refusals.ts'
import type { ListedRun, ReviewRecord, RunRecord } from '../../domain/run-record.ts'

/**
 * Reads the fields that a list shows in addition to the run's record from the columns `total_tokens`,
 * `total_tool_calls`, `skipped_tasks`, `known_cost_usd`, `open_reviews` and `current_index`. For a run without tasks, the columns
 * about tasks are NULL.
 */
export function readListedFields(
  columns: ColumnReader,
  { hasTasks, currentName }: { readonly hasTasks: boolean; readonly currentName: string },
): Omit<ListedRun, keyof RunRecord> {
  const taskIndex = columns.count('current_index')
  return {
    place: columns.count('id') ?? 0,
    totalTokens: columns.count('total_tokens') ?? (hasTasks ? -1 : 0),
    totalToolCalls: columns.count('total_tool_calls') ?? 0,
    skippedTasks: columns.count('skipped_tasks') ?? 0,
    ...(hasTasks ? field('costUsd', columns.amount('known_cost_usd')) : { costUsd: 0 }),
    ...(taskIndex === undefined ? {} : { currentTask: { name: currentName, taskIndex } }),
    openReviews: columns.count('open_reviews') ?? 0,
  }
}

/** Columns of a run that a list reads; `error_start` is the first part of `error`. */
export const LISTED_COLUMNS = ['id', 'state', ...listColumnNames(LISTED_RUN_COLUMNS)]
  .concat('substr(error, 1, 2000) AS error_start')
  .join(', ')

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
export const READ_TASKS = [
  ...listColumnNames(TASK_COLUMNS)
    .filter((name) => name !== 'output')
    .map((name) => `tasks.${name}`),
  `CASE WHEN sum(length(output)) OVER (ORDER BY task_index DESC) - length(output) < ${MAX_OUTPUTS}
   THEN output END AS output`,
  'output IS NOT NULL AS has_output',
].join(', ')

/** Whether the output of a row was left out; see {@link READ_TASKS}. */
export function readOutputOmitted(row: Readonly<Record<string, unknown>>): {
  readonly outputOmitted?: true
} {
  return row['output'] === null && Boolean(row['has_output']) ? { outputOmitted: true } : {}
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

/** Returns the request of a review that cannot be read at all. */
export function unknownRequest(reviewId: string): ReviewRecord['request'] {
  return {
    type: 'review_requested',
    reviewId,
    taskIndex: 0,
    taskName: '',
    taskDescription: '',
    agentRole: '',
    attempt: 1,
    taskOutput: '',
    kind: 'TASK_OUTPUT',
    timing: 'AFTER_EXECUTION',
    prompt: null,
    timeoutMs: 0,
    onTimeout: 'EXIT_EARLY',
    requestedAt: new Date(0).toISOString(),
  }
}

/** Reads the entry of a row of the audit log. One that is damaged has the action `unreadable`, with the reason. */
export function readAuditEntry(row: Readonly<Record<string, unknown>>): NewAuditEntry {
  const columns = new ColumnReader(row)
  const entry = columns.json('data', 'an object')
  // NOTE: a cast at the boundary: stores only ever write entries.
  if (entry !== undefined) return entry as NewAuditEntry
  const { unreadable: target = '' } = columns.unreadable
  const at = new Date(0).toISOString()
  return { at, actor: '', action: 'unreadable', via: 'http', target, outcome: 'FAILED' }
}

/** Reason with which a store ends a delivery whose webhook it cannot read (RUNS-P14). */
export const UNREADABLE_WEBHOOK = 'The stored name of the webhook cannot be read'

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

/** Returns the event that replaces a damaged one of type `eventType` (RUNS-P14). */
export function toUnreadableEvent(
  eventType: unknown,
  error: unknown,
): RunEventOf<'event_unreadable'> {
  return { type: 'event_unreadable', eventType: String(eventType), reason: errorMessage(error) }
}

/** Returns `stored` as an event. @throws {TypeError} when it is not an object with a type. */
export function toStoredEvent(stored: unknown): RunEvent {
  if (!isJsonObject(stored) || typeof stored['type'] !== 'string') {
    throw new TypeError('expected an object with a type')
  }
  // NOTE: a cast at the boundary: stores only ever write events.
  return stored as RunEvent
}
