/** Finds the run of a request if its caller may read it, and the position at which the reader begins. */
import { TuttiError } from '@tutti/core'
import { isTerminalRunStatus } from '@tutti/protocol'

import { resolveCursor, type CursorRequest } from './event-cursor.ts'
import { assertMayRead } from './run-rights.ts'

import type { Caller } from '../caller.ts'
import type { RunService } from '@tutti/runs'
import type { RunRecord, RunWithTasks } from '@tutti/runs/adapter'

/**
 * Finds a run with its tasks.
 *
 * @throws {TuttiError} RUN_NOT_FOUND when it does not exist; FORBIDDEN when the caller may not read it.
 */
export async function findRun(
  runs: RunService,
  runId: string,
  caller: Caller,
): Promise<RunWithTasks> {
  const found = await runs.get(runId)
  if (found === undefined) throw runNotFound(runId)
  assertMayRead(caller, found.run)
  return found
}

/**
 * Finds a run without its tasks, which need another read.
 *
 * @throws {TuttiError} RUN_NOT_FOUND when it does not exist; FORBIDDEN when the caller may not read it.
 */
export async function findRecord(
  runs: RunService,
  runId: string,
  caller: Caller,
): Promise<RunRecord> {
  const found = await locateRun(runs, runId)
  assertMayRead(caller, found)
  return found
}

/**
 * Finds a run that is acted on. The caller needs the scope of the action, and may not see more than the status.
 *
 * @throws {TuttiError} RUN_NOT_FOUND when it does not exist.
 */
export async function locateRun(runs: RunService, runId: string): Promise<RunRecord> {
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
 * @throws {TuttiError} RUN_NOT_FOUND, FORBIDDEN, CURSOR_PAST_END or BAD_REQUEST.
 */
export async function findPlace(
  runs: RunService,
  runId: string,
  { caller, ...request }: CursorRequest & { readonly caller: Caller },
): Promise<ReadingPlace> {
  return resolvePlace(await findRecord(runs, runId, caller), request)
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
