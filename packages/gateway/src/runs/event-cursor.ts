/** Pure: resolves the position at which a reader begins. */
import { TuttiError } from '@tutti/core'

import { badRequest } from '../http/api-error.ts'

import type { RunRecord } from '@tutti/runs/adapter'

/** Requested position of a reader. */
export interface CursorRequest {
  /** First `seq`; a negative one counts from the end. */
  readonly from?: number | undefined
  /** `id` of the last event that the reader has received; takes precedence over `from`. */
  readonly lastEventId?: string | undefined
}

/**
 * Returns the first `seq` to read.
 *
 * @throws {TuttiError} CURSOR_PAST_END when the run has no such event yet; BAD_REQUEST when the id belongs
 * to another run.
 */
export function resolveCursor(
  { runId, lastSeq }: Pick<RunRecord, 'runId' | 'lastSeq'>,
  { from, lastEventId }: CursorRequest,
): number {
  const next = lastSeq + 1
  const wanted = lastEventId === undefined ? (from ?? 0) : parseEventId(runId, lastEventId) + 1
  if (wanted < 0) return Math.max(0, next + wanted)
  if (wanted <= next) return wanted
  throw new TuttiError(
    'CURSOR_PAST_END',
    `Run ${runId} has events up to ${lastSeq}; cannot begin at ${wanted}`,
    { details: { lastSeq } },
  )
}

function parseEventId(runId: string, id: string): number {
  const [, of, seq] = /^(?:(.+):)?(\d{1,15})$/.exec(id) ?? []
  if (seq !== undefined && (of === undefined || of === runId)) return Number(seq)
  throw badRequest('Last-Event-ID header', [
    { path: '', message: `must be an event id of ${runId}, got "${id}"` },
  ])
}
