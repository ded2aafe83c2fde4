/** Prepares writes for a store. */
import { isDelivered } from '../../../domain/delivered-events.ts'
import { toRecordChanges } from '../../../log/changes.ts'
import { toLoggedEvent } from '../../../log/serialize-once.ts'
import { encodeWrite, type EncodableWrite } from '../../../log/stored-values.ts'

import type { CommandAnswer } from '../../../ports/command-queue.ts'
import type { ForkedLog, RunWrite, WriteResult } from '../../../ports/run-store.ts'
import type { PreparedWrite, WrittenFrom } from '../../../log/prepared-write.ts'

/** A write to prepare. */
export interface UnpreparedWrite extends EncodableWrite {
  readonly answers?: readonly CommandAnswer[] | undefined
}

/**
 * Prepares a write that follows the event `lastSeq` of its run.
 *
 * @throws {RangeError} when a number of an event cannot be stored.
 */
export function prepareWrite(write: UnpreparedWrite, lastSeq: number): PreparedWrite {
  const { events, answers = [] } = write
  const changes = events.flatMap(toRecordChanges)
  const encoded = encodeWrite(write, lastSeq)
  return {
    events: encoded.events.map(({ event, data, bytes }) => {
      return { type: event.type, data, bytes, isDelivered: isDelivered(event) }
    }),
    steps: encoded.steps.map(({ seq, data, bytes }) => {
      return { event: seq - lastSeq - 1, data, bytes }
    }),
    answers: answers.map((answer) => {
      return { commandId: answer.commandId, answer: JSON.stringify(answer) }
    }),
    changes,
  }
}

/** Prepares the own events of a fork, which follow those that it copies. They refer to no other event. */
export function prepareFork({ changes, events, steps, stepEvents }: ForkedLog): PreparedWrite {
  const prepared = prepareWrite({ events, steps, stepEvents }, 0)
  return { ...prepared, changes: [...changes, ...prepared.changes] }
}

/** Returns the result of a write with its events. */
export function toWriteResult(
  { runId, events }: Pick<RunWrite, 'runId' | 'events'>,
  result: WrittenFrom | Exclude<WriteResult, { kind: 'written' }>,
): WriteResult {
  if (result.kind !== 'written') return result
  const { firstSeq } = result
  return {
    kind: 'written',
    events: events.map((event, index) => toLoggedEvent(runId, firstSeq + index, event)),
  }
}
