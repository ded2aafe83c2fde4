/** Finds the run that a request names, and the place in its events where a reader begins. */
import { TuttiError } from '@tutti/core'
import { isTerminalRunStatus } from '@tutti/protocol'

import { resolveCursor, type CursorRequest } from './event-cursor.ts'

import type { RunRecord, RunService, RunWithTasks } from '@tutti/runs'

/**
 * The run of that id with its tasks.
 *
 * @throws {TuttiError} RUN_NOT_FOUND when there is none.
 */
export async function findRun(runs: RunService, runId: string): Promise<RunWithTasks> {
  const found = await runs.get(runId)
  if (found === undefined) throw runNotFound(runId)
  return found
}

/**
 * The run of that id without its tasks, which cost another read.
 *
 * @throws {TuttiError} RUN_NOT_FOUND when there is none.
 */
export async function findRecord(runs: RunService, runId: string): Promise<RunRecord> {
  const found = await runs.record(runId)
  if (found === undefined) throw runNotFound(runId)
  return found
}

/** The error for a run id that names nothing. */
export function runNotFound(runId: string): TuttiError {
  return new TuttiError('RUN_NOT_FOUND', `No run with ID ${runId}`)
}

/** Where a reader of a run begins. */
export interface ReadingPlace {
  readonly cursor: number
  /** Whether the run has ended and holds nothing from there on. */
  readonly over: boolean
}

/**
 * The place in the events of a run that a reader asks for.
 *
 * @throws {TuttiError} RUN_NOT_FOUND, CURSOR_PAST_END or BAD_REQUEST.
 */
export async function findPlace(
  runs: RunService,
  runId: string,
  request: CursorRequest,
): Promise<ReadingPlace> {
  const run = await findRecord(runs, runId)
  const cursor = resolveCursor(run, request)
  return { cursor, over: isTerminalRunStatus(run.status) && cursor > run.lastSeq }
}
