/**
 * Pure: converts rows to records, for all stores. A store says only how it writes texts.
 *
 * NOTE: casts below are at the boundary: stores only ever write values of the types that they read back.
 */
import type { LoggedRunEvent } from '@tutti/protocol'

import { toLoggedEvent } from '../../log/serialize-once.ts'
import { toTaskRecord, type StoredTask } from '../../log/stored-task.ts'
import { ColumnReader, type StoredRow } from './column-reader.ts'
import { readFields } from './read-fields.ts'
import {
  parseCutText,
  readListedFields,
  readOutputOmitted,
  toStoredEvent,
  toUnreadableEvent,
  unknownRequest,
} from './record-fields.ts'
import { REVIEW_COLUMNS, RUN_COLUMNS, TASK_COLUMNS } from './schema/table-columns.ts'

import type { StoredTexts } from './schema/columns.ts'
import type { RunStep } from '@tutti/ensemble/internal'
import type { ListedRun, ReviewRecord, RunRecord, TaskRecord } from '../../domain/run-record.ts'
import type { StoredReader } from '../../log/read-stored.ts'
import type { PendingCommand } from '../../ports/command-queue.ts'

/** Row id of a run; other tables refer to it. */
export type RowId = string | number

/** The state of a run in the queue. */
export type QueueState = 'ready' | 'owned' | 'parked' | 'ended'

/** A row of a run, with the fields that only stores use. */
export interface RunRow {
  readonly id: RowId
  readonly state: QueueState
  readonly run: RunRecord
  /** Fencing token of its current claim or, when it is unowned, of its last change. */
  readonly token: string
  /** Number of the last write under its current claim. */
  readonly writeNo: number
  /** Number of its steps. */
  readonly nextStep: number
  readonly lostOwners: number
  /** Number of commands that were queued so far; 0 in a store whose writes lock all others out. */
  readonly commands: number
  readonly fingerprint: string | null
}

/** The fields that every run has. */
const EMPTY_RUN = {
  runId: '',
  ensemble: '',
  workflow: '',
  status: '',
  inputs: {},
  tags: {},
  taskCount: 0,
  completedTasks: 0,
  createdAt: 0,
  epoch: 0,
  lastSeq: 0,
}

/** The fields that every row of a task has. Damaged usage is unknown. */
const EMPTY_TASK = {
  taskIndex: 0,
  name: '',
  description: '',
  agentRole: '',
  status: '',
  attempt: 0,
  inputTokens: -1,
  outputTokens: -1,
  toolCallCount: 0,
  costUsd: null,
  earlierInputTokens: -1,
  earlierOutputTokens: -1,
  earlierToolCallCount: 0,
  earlierCostUsd: null,
}

/** The fields that every review has, apart from its request. */
const EMPTY_REVIEW: Readonly<Record<string, unknown>> = {
  reviewId: '',
  runId: '',
  status: '',
  ensemble: '',
  inputs: {},
  tags: {},
  openedAt: 0,
}

const { run: _, ...READ_TASK_COLUMNS } = TASK_COLUMNS

/** The columns that a review has from its run. */
const OF_RUN = {
  runId: RUN_COLUMNS.runId,
  ensemble: RUN_COLUMNS.ensemble,
  inputs: RUN_COLUMNS.inputs,
  tags: RUN_COLUMNS.tags,
  actor: RUN_COLUMNS.actor,
}

const {
  run: _run,
  kind: _kind,
  waitsFor: _waitsFor,
  ...READ_REVIEW_COLUMNS
} = { ...REVIEW_COLUMNS, ...OF_RUN }

/** Converts the rows of one store. */
export class RecordReader {
  readonly #texts: StoredTexts

  constructor(texts: StoredTexts) {
    this.#texts = texts
  }

  /** Reads a run from a row of table `runs`. */
  run(row: StoredRow): RunRecord {
    const columns = new ColumnReader(row)
    return { ...this.#readRun(columns), ...columns.unreadable }
  }

  /** Reads a row of table `runs`, whose number of steps is in `next_step`. */
  runRow(row: StoredRow): RunRow {
    const { id } = row
    return {
      id: typeof id === 'string' ? id : Number(id),
      state: row['state'] as QueueState,
      run: this.run(row),
      token: String(row['token']),
      writeNo: Number(row['write_no']),
      nextStep: Number(row['next_step']),
      lostOwners: Number(row['lost_owners']),
      commands: Number(row['commands'] ?? 0),
      fingerprint: new ColumnReader(row).text('fingerprint', this.#texts.text) ?? null,
    }
  }

  /** Reads a run from a row of the list. */
  listedRun(row: StoredRow): ListedRun {
    const columns = new ColumnReader(row)
    const { inputs: _, ...listed } = this.#readRun(columns)
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
    return this.#readTask(new ColumnReader(row))
  }

  /** Reads the record of a task from a row of table `tasks`. */
  task(row: StoredRow): TaskRecord {
    const columns = new ColumnReader(row)
    const stored = this.#readTask(columns)
    return { ...toTaskRecord(stored), ...readOutputOmitted(row), ...columns.unreadable }
  }

  /** Reads a review from a row of table `reviews` with columns of its run. */
  review(row: StoredRow): ReviewRecord {
    const columns = new ColumnReader(row)
    const { request, ...read } = readFields(columns, this.#texts, READ_REVIEW_COLUMNS)
    const { reviewId } = read
    return {
      ...EMPTY_REVIEW,
      ...read,
      request: {
        ...unknownRequest(typeof reviewId === 'string' ? reviewId : ''),
        ...(request as object | undefined),
      },
      ...columns.unreadable,
    } as ReviewRecord
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

  #readRun(columns: ColumnReader): RunRecord {
    return { ...EMPTY_RUN, ...readFields(columns, this.#texts, RUN_COLUMNS) } as RunRecord
  }

  #readTask(columns: ColumnReader): StoredTask {
    const read = readFields(columns, this.#texts, READ_TASK_COLUMNS)
    return { ...EMPTY_TASK, ...read } as StoredTask
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
