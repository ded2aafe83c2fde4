/** Writes events of one run with all their effects. The caller holds a transaction. */
import { toRecordChanges } from '../../../log/changes.ts'
import type { Change } from '../../../domain/change.ts'
import { foldChanges } from '../../../log/fold-changes.ts'
import { toLoggedEvent } from '../../../log/serialize-once.ts'
import { encodeWrite, type StoredValues } from '../../../log/stored-values.ts'
import { ColumnReader } from '../../shared/column-reader.ts'
import { isDelivered, readJsonColumns } from '../../shared/record-fields.ts'
import { erasePrompts } from '../../../log/erase-prompts.ts'
import { runCompleted } from '../../../domain/refusals.ts'
import { prepareChangeApplier, type Assignment } from './apply-changes.ts'
import { prepareRowInserter } from '../database/insert-rows.ts'
import { keySql, numberSql, ofRun } from '../schema/log-key.ts'
import { SECURE_DELETE } from '../database/open-database.ts'

import type { StoreNotification } from '../../../ports/notifications.ts'
import type { CommandAnswer } from '../../../ports/command-queue.ts'
import type { RunStep } from '@tutti/ensemble/internal'
import type { LoggedRunEvent, RunEvent, RunEventOf } from '@tutti/protocol'
import type { Clock } from '@tutti/core'
import type { DatabaseSync } from 'node:sqlite'

/** Data to append to a run. */
export interface Addition {
  /** Row id of the run. */
  readonly id: number
  readonly runId: string
  /** Newest sequence number of the run so far. */
  readonly lastSeq: number
  readonly events: readonly RunEvent[]
  readonly steps: readonly RunStep[]
  readonly stepEvents?: readonly number[]
  readonly answers?: readonly CommandAnswer[]
  readonly stored?: StoredValues
  /** Changes of records that precede those of the events. */
  readonly changes?: readonly Change[]
  /** Assignments in the run's row in addition to those of the events. */
  readonly assignments: readonly Assignment[]
}

/** The result of an append. */
export interface Appended {
  readonly events: readonly LoggedRunEvent[]
  readonly hasEnded: boolean
  /** Whether texts were removed; the write-ahead log still has copies of them. */
  readonly hasErased: boolean
  /** Notifications about stored answers and created deliveries. */
  readonly notifications: readonly StoreNotification[]
}

/** Prepares the statements and returns the function that appends. */
export function prepareEventAppender(
  database: DatabaseSync,
  clock: Clock,
): (addition: Addition) => Appended {
  const applyChanges = prepareChangeApplier(database)
  const insertEvents = prepareRowInserter(
    database,
    'INSERT INTO events (key, type, data, bytes)',
    `(${keySql('?', '?')}, ?, ?, ?)`,
  )
  const insertSteps = prepareRowInserter(
    database,
    'INSERT INTO steps (key, seq, data, bytes)',
    `(${keySql('?', '?')}, ?, ?, ?)`,
  )
  const findNextStep = database.prepare(
    `SELECT coalesce(${numberSql('max(key)')}, -1) + 1 AS n FROM steps WHERE ${ofRun('$id')}`,
  )
  const end = prepareRunEnder(database)
  const erase = preparePromptEraser(database)
  const answer = prepareAnswerer(database)
  const deliver = prepareDeliveryMaker(database, clock)
  return (addition) => {
    const {
      id,
      runId,
      lastSeq,
      events,
      answers = [],
      changes: earlier = [],
      assignments,
    } = addition
    const notifications = answers.flatMap((given) => answer(id, given))
    const result = events.find((event) => event.type === 'run_result')
    const encoded = encodeWrite(addition, lastSeq)
    insertEvents(
      encoded.events.map(({ event, data, bytes }, index) => [
        id,
        lastSeq + 1 + index,
        event.type,
        data,
        bytes,
      ]),
    )
    const changes = foldChanges([...earlier, ...events.flatMap(toRecordChanges)])
    const ending = result === undefined ? [] : [...END_RUN, ['ended_at = ?', clock.now()] as const]
    applyChanges(id, changes, [...assignments, ...ending])
    const hasErased = result !== undefined && erase(id)
    notifications.push(...deliver({ id, lastSeq, events }))
    if (encoded.steps.length > 0) {
      const n = Number(findNextStep.get({ id })?.['n'])
      insertSteps(
        encoded.steps.map(({ seq, data, bytes }, index) => [id, n + index, seq, data, bytes]),
      )
    }
    if (result !== undefined) {
      notifications.push(...end({ id, runId }, result).flatMap((given) => answer(id, given)))
    }
    return {
      events: events.map((event, index) => toLoggedEvent(runId, lastSeq + 1 + index, event)),
      hasEnded: result !== undefined,
      hasErased,
      notifications,
    }
  }
}

/**
 * Returns the function that removes the prompts of a run that ends from its request (RUNS-J3); it returns whether there
 * were any.
 */
function preparePromptEraser(database: DatabaseSync): (id: number) => boolean {
  const select = database.prepare(
    'SELECT request FROM requests WHERE run = ? AND request IS NOT NULL',
  )
  const update = database.prepare('UPDATE requests SET request = ? WHERE run = ?')
  return (id) => {
    const row = select.get(id)
    const erased =
      row === undefined ? undefined : erasePrompts(readJsonColumns(new ColumnReader(row)).request)
    if (erased === undefined) return false
    // Freed pages are overwritten only now, because that costs further writes.
    database.exec('PRAGMA secure_delete = ON')
    update.run(JSON.stringify(erased), id)
    database.exec(SECURE_DELETE)
    return true
  }
}

type Answerer = (id: number, answer: CommandAnswer) => StoreNotification[]

/** Returns the function that stores the answer to a command, unless the command has one. */
function prepareAnswerer(database: DatabaseSync): Answerer {
  const setAnswer = database.prepare(
    'UPDATE commands SET answer = ? WHERE command_id = ? AND run = ? AND answer IS NULL',
  )
  return (id, answer) => {
    const { commandId } = answer
    const { changes } = setAnswer.run(JSON.stringify(answer), commandId, id)
    return changes === 0 ? [] : [{ kind: 'answer', commandId }]
  }
}

type DeliveryMaker = (
  addition: Pick<Addition, 'id' | 'lastSeq' | 'events'>,
) => readonly StoreNotification[]

/** Returns the function that creates a delivery for each webhook of the run and each delivered event (RUNS-O1). */
function prepareDeliveryMaker(database: DatabaseSync, clock: Clock): DeliveryMaker {
  const selectWebhooks = database.prepare(
    'SELECT webhooks FROM runs WHERE id = ? AND webhooks IS NOT NULL',
  )
  const insert = database.prepare(
    'INSERT INTO deliveries (run, seq, webhook, due_at) VALUES (?, ?, ?, ?)',
  )
  return ({ id, lastSeq, events }) => {
    const seqs = events.flatMap((event, at) => (isDelivered(event) ? [lastSeq + 1 + at] : []))
    const row = seqs.length === 0 ? undefined : selectWebhooks.get(id)
    if (row === undefined) return []
    const { webhooks = [] } = readJsonColumns(new ColumnReader(row))
    for (const seq of seqs) {
      for (const webhook of new Set(webhooks)) {
        insert.run(id, seq, JSON.stringify(webhook), clock.now())
      }
    }
    return [{ kind: 'delivery' }]
  }
}

type Ender = (
  run: Pick<Addition, 'id' | 'runId'>,
  result: RunEventOf<'run_result'>,
) => readonly CommandAnswer[]

/** Assignments in the row of a run that ends. */
const END_RUN: readonly Assignment[] = [
  [`state = 'ended', owner = NULL, due_at = NULL`],
  [
    `cost_usd = (SELECT total(coalesce(cost_usd, 0) + coalesce(earlier_cost_usd, 0)) FROM tasks
      WHERE run = runs.id)`,
  ],
]

/** Returns the function that ends a run: it withdraws reviews, and returns answers to pending commands. */
function prepareRunEnder(database: DatabaseSync): Ender {
  const withdraw = database.prepare(
    `UPDATE reviews SET status = 'WITHDRAWN' WHERE run = ? AND status = 'OPEN'`,
  )
  const waiting = database.prepare(
    'SELECT command_id FROM commands WHERE run = ? AND answer IS NULL',
  )
  const isAwaited = database.prepare(
    `SELECT 1 WHERE EXISTS (SELECT 1 FROM reviews WHERE run = $id AND status = 'OPEN')
       OR EXISTS (SELECT 1 FROM commands WHERE run = $id AND answer IS NULL)`,
  )
  return ({ id, runId }, { status }) => {
    // Most runs have neither open reviews nor pending commands.
    if (isAwaited.get({ id }) === undefined) return []
    withdraw.run(id)
    return waiting.all(id).map((row) => ({
      commandId: String(row['command_id']),
      ok: false,
      error: runCompleted({ runId, status }),
    }))
  }
}
