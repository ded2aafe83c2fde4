/**
 * Pure: converts rows to records, for all stores. A store says only how it writes texts.
 *
 * NOTE: casts below are at the boundary: stores only ever write values of the types that they read back.
 */
import {
  addTokens,
  type FinishReason,
  type LoggedRunEvent,
  type TokenTotals,
} from '@tutti/protocol'

import { field } from '../../domain/field.ts'
import { toLoggedEvent } from '../../log/serialize-once.ts'
import { ColumnReader, type StoredRow } from './column-reader.ts'
import {
  parseCutText,
  readJsonColumns,
  readListedFields,
  readOutputOmitted,
  readReviewFields,
  readRunNumbers,
  readTaskNumbers,
  toStoredEvent,
  toUnreadableEvent,
} from './record-fields.ts'

import type { RunStep } from '@tutti/ensemble'
import type { ListedRun, ReviewRecord, RunRecord, TaskRecord } from '../../domain/run-record.ts'
import type { StoredTexts } from './schema/columns.ts'
import type { StoredReader } from '../../log/read-stored.ts'
import type { PendingCommand } from '../../ports/command-queue.ts'

/** Usage of attempts; a null cost is unknown. */
export interface StoredUsage extends TokenTotals {
  readonly toolCallCount: number
  readonly costUsd: number | null
}

/** A task, with separate usage of the current attempt and of earlier ones. */
export interface StoredTask {
  readonly task: Omit<TaskRecord, keyof StoredUsage>
  readonly used: StoredUsage
  readonly earlier: StoredUsage
}

/** Converts the rows of one store. */
export class RecordReader {
  readonly #texts: StoredTexts

  constructor(texts: StoredTexts) {
    this.#texts = texts
  }

  /** Reads a run from a row of table `runs`. */
  run(row: StoredRow): RunRecord {
    const columns = new ColumnReader(row)
    return {
      ...this.#summary(columns),
      ...field('error', columns.text('error', this.#texts.text)),
      ...columns.unreadable,
    }
  }

  /** Reads a run from a row of the list. */
  listedRun(row: StoredRow): ListedRun {
    const columns = new ColumnReader(row)
    const { inputs: _, ...listed } = this.#summary(columns)
    const currentName = columns.text('current_name', this.#texts.text) ?? ''
    return {
      ...listed,
      ...this.cutError(row['error_start']),
      ...readListedFields(columns, { hasTasks: row['total_tokens'] !== null, currentName }),
      ...columns.unreadable,
    }
  }

  /** Reads the first part of an error. */
  cutError(start: unknown): Pick<RunRecord, 'error'> {
    return typeof start === 'string' ? { error: parseCutText(this.#texts.inside(start)) } : {}
  }

  /** Reads a task from a row of table `tasks`. */
  storedTask(row: StoredRow): StoredTask {
    const columns = new ColumnReader(row)
    const used = readUsage(columns, '')
    const earlier = readUsage(columns, 'earlier_')
    const { text } = this.#texts
    return {
      task: {
        ...readTaskNumbers(columns),
        name: columns.text('name', text) ?? '',
        description: columns.text('description', text) ?? '',
        agentRole: columns.text('agent_role', text) ?? '',
        status: (columns.text('status', asStored) ?? '') as TaskRecord['status'],
        ...field('output', columns.text('output', text)),
        ...readOutputOmitted(row),
        ...field('error', columns.text('error', text)),
        ...readFinishReason(row),
        ...columns.unreadable,
      },
      used,
      earlier,
    }
  }

  /** Reads the record of a task from a row of table `tasks`. */
  task(row: StoredRow): TaskRecord {
    const { task, used, earlier } = this.storedTask(row)
    const { costUsd, ...total } = addUsed(earlier, used)
    return { ...task, ...total, ...(costUsd === null ? {} : { costUsd }) }
  }

  /** Reads a review from a row of table `reviews` with the `run_id` of its run. */
  review(row: StoredRow): ReviewRecord {
    const columns = new ColumnReader(row)
    const { id, text } = this.#texts
    const reviewId = columns.text('review_id', id) ?? ''
    return {
      reviewId,
      runId: columns.text('run_id', id) ?? '',
      status: (columns.text('status', asStored) ?? '') as ReviewRecord['status'],
      ensemble: columns.text('ensemble', id) ?? '',
      ...readReviewFields(columns, reviewId),
      ...field('decidedBy', columns.text('decided_by', text)),
      ...columns.unreadable,
    }
  }

  /** Reads commands from rows of table `commands` with the `run_id` of their run. Damaged ones are left out (RUNS-P14). */
  pendingCommands(rows: readonly StoredRow[]): readonly PendingCommand[] {
    return rows.flatMap((row) => {
      const command = new ColumnReader(row).json('command', 'an object')
      if (command === undefined) return []
      const runId = String(this.#texts.id(String(row['run_id'])))
      const id = String(row['command_id'])
      return [{ id, runId, command: command as PendingCommand['command'] }]
    })
  }

  /** Reads the columns of a run, without its error; a list reads only some of them. */
  #summary(columns: ColumnReader): Omit<RunRecord, 'error' | 'unreadable'> {
    const { id, text } = this.#texts
    return {
      runId: columns.text('run_id', id) ?? '',
      ensemble: columns.text('ensemble', id) ?? '',
      workflow: (columns.text('workflow', asStored) ?? '') as RunRecord['workflow'],
      status: (columns.text('status', asStored) ?? '') as RunRecord['status'],
      ...readJsonColumns(columns),
      ...field('threadId', columns.text('thread_id', id)),
      ...field('outputTask', columns.text('output_task', text)),
      ...field('build', columns.text('build', id)),
      ...field('code', columns.text('code', id)),
      ...readRunNumbers(columns),
    }
  }
}

/** Reads a step from a row of table `steps`. */
export function readStep(reader: StoredReader, row: StoredRow): RunStep {
  return reader.read(String(row['data'])) as RunStep
}

/** Reads an event from a row of table `events`. */
export function readEvent(runId: string, reader: StoredReader, row: StoredRow): LoggedRunEvent {
  const seq = Number(row['seq'])
  try {
    return toLoggedEvent(runId, seq, toStoredEvent(reader.read(String(row['data']))))
  } catch (error) {
    return toLoggedEvent(runId, seq, toUnreadableEvent(row['type'], error))
  }
}

/** Adds usage. An unknown value makes the sum unknown. */
export function addUsed(one: StoredUsage, other: StoredUsage): StoredUsage {
  return {
    ...addTokens([one, other]),
    toolCallCount: one.toolCallCount + other.toolCallCount,
    costUsd: one.costUsd === null || other.costUsd === null ? null : one.costUsd + other.costUsd,
  }
}

function readUsage(columns: ColumnReader, prefix: string): StoredUsage {
  return {
    inputTokens: columns.count(`${prefix}input_tokens`) ?? -1,
    outputTokens: columns.count(`${prefix}output_tokens`) ?? -1,
    toolCallCount: columns.count(`${prefix}tool_call_count`) ?? 0,
    costUsd: columns.amount(`${prefix}cost_usd`) ?? null,
  }
}

function readFinishReason({ finish_reason: reason }: StoredRow): Pick<TaskRecord, 'finishReason'> {
  return typeof reason === 'string' ? { finishReason: reason as FinishReason } : {}
}

function asStored(stored: string): string {
  return stored
}
