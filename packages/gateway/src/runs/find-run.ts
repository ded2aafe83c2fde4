/** Finds the run of a request, and the position at which its reader begins. */
import { TuttiError } from '@tutti/core'
import { isTerminalRunStatus } from '@tutti/protocol'

import { resolveCursor, type CursorRequest } from './event-cursor.ts'

import type { RunRecord, RunService, RunWithTasks } from '@tutti/runs'

/**
 * Finds a run with its tasks.
 *
 * @throws {TuttiError} RUN_NOT_FOUND when it does not exist.
 */
export async function findRun(runs: RunService, runId: string): Promise<RunWithTasks> {
  const found = await runs.get(runId)
  if (found === undefined) throw runNotFound(runId)
  return found
}

/**
 * Finds a run without its tasks, which need another read.
 *
 * @throws {TuttiError} RUN_NOT_FOUND when it does not exist.
 */
export async function findRecord(runs: RunService, runId: string): Promise<RunRecord> {
  const found = await runs.record(runId)
  if (found === undefined) throw runNotFound(runId)
  return found
}

/** Returns the error for an unknown run id. */
export function runNotFound(runId: string): TuttiError {
  return new TuttiError('RUN_NOT_FOUND', `No run with ID ${runId}`)
}

/** Position at which a reader begins. */
export interface ReadingPlace {
  readonly cursor: number
  /** Whether the run has ended and has no event from there on. */
  readonly over: boolean
}

/**
 * Finds the position that a reader requests.
 *
 * @throws {TuttiError} RUN_NOT_FOUND, CURSOR_PAST_END or BAD_REQUEST.
 */
export async function findPlace(
  runs: RunService,
  runId: string,
  request: CursorRequest,
): Promise<ReadingPlace> {
  return resolvePlace(await findRecord(runs, runId), request)
}

/**
 * Returns the position that a reader requests.
 *
 * @throws {TuttiError} CURSOR_PAST_END or BAD_REQUEST.
 */
export function resolvePlace(run: RunRecord, request: CursorRequest): ReadingPlace {
  const cursor = resolveCursor(run, request)
  return { cursor, over: isTerminalRunStatus(run.status) && cursor > run.lastSeq }
}
