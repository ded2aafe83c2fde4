/**
 * Pure: refuses changes with numbers that not every store can hold and read again. It runs before each write, so that all
 * stores refuse the same values with the same reason.
 */
import { MAX_TIME_MS, previewOf } from '@tutti/protocol/internal'

import type { Change } from '../domain/change.ts'

interface Range {
  readonly least: number
  readonly most: number
  readonly whole: boolean
}

const TIME: Range = { least: 0, most: MAX_TIME_MS, whole: true }
const COUNT: Range = { least: 0, most: Number.MAX_SAFE_INTEGER, whole: true }
/** Unknown tokens are -1. */
const TOKENS: Range = { least: -1, most: Number.MAX_SAFE_INTEGER, whole: true }
/** Numbers of tasks and attempts: columns of 32 bits. */
const NUMBER: Range = { least: 0, most: 2_147_483_647, whole: true }
const COST: Range = { least: 0, most: Number.MAX_VALUE, whole: false }

/** Field of a change → the numbers that it may hold. */
const RANGES: ReadonlyMap<string, Range> = new Map([
  ['taskIndex', NUMBER],
  ['attempt', NUMBER],
  ['startedAt', TIME],
  ['completedAt', TIME],
  ['openedAt', TIME],
  ['expiresAt', TIME],
  ['durationMs', COUNT],
  ['inputTokens', TOKENS],
  ['outputTokens', TOKENS],
  ['toolCallCount', COUNT],
  ['costUsd', COST],
])

/**
 * Checks the changes that an event of type `eventType` makes.
 *
 * @throws {RangeError} naming the field and its value.
 */
export function assertStorable(eventType: string, changes: readonly Change[]): void {
  for (const change of changes) {
    switch (change.kind) {
      case 'run':
        assertAllInRange(eventType, change.set)
        break
      case 'task':
        assertInRange(eventType, 'taskIndex', change.taskIndex)
        assertAllInRange(eventType, change.set)
        break
      case 'new_task':
        assertInRange(eventType, 'taskIndex', change.task.taskIndex)
        break
      case 'new_review':
        assertInRange(eventType, 'openedAt', change.review.openedAt)
        assertInRange(eventType, 'expiresAt', change.review.expiresAt)
        break
      default:
    }
  }
}

function assertAllInRange(eventType: string, fields: Readonly<Record<string, unknown>>): void {
  for (const field of Object.keys(fields)) assertInRange(eventType, field, fields[field])
}

function assertInRange(eventType: string, field: string, value: unknown): void {
  const range = RANGES.get(field)
  if (range === undefined || value === undefined || value === null) return
  const { least, most, whole } = range
  const isFine = typeof value === 'number' && value >= least && value <= most
  if (isFine && (!whole || Number.isInteger(value))) return
  throw new RangeError(
    `${field} of the event ${eventType} must be ${whole ? 'an integer' : 'a number'} from ${least} to ${most}, ` +
      `got ${previewOf(value)}`,
  )
}
