/** Plans a fork: checks its request, and adds what the request gives it. */
import { runExists } from '../domain/refusals.ts'
import { addGiven, type ForkServiceSettings } from './fork-given.ts'
import { listGivenTasks, previewFork } from './fork-preview.ts'
import { assertNothingRepeated, findRepeatedCalls } from './fork-side-effects.ts'

import type { Ensemble } from '@tutti/ensemble'
import type { ForkPreview } from '@tutti/protocol'
import type { ForkedLog, RunStore } from '../ports/run-store.ts'
import type { AskedFork } from './fork-request.ts'
import type { ForkSource } from './fork-log.ts'

/** A requested fork whose submission was accepted. */
export interface AcceptedFork extends Pick<AskedFork, 'request'> {
  /** Id of the fork. */
  readonly runId: string
  readonly ensemble: Ensemble
  readonly source: ForkSource
}

/**
 * Returns the log that a fork begins with.
 *
 * @throws {TuttiError} SIDE_EFFECTS naming the tools that might be called twice, and as `addGiven`.
 */
export async function planFork(
  accepted: AcceptedFork,
  settings: ForkServiceSettings,
): Promise<ForkedLog> {
  const { request, source } = accepted
  const { results = {}, allowSideEffects = false } = request
  const log = await addGiven({ ...accepted, ...request, runId: accepted.runId }, settings)
  if (allowSideEffects) return log
  const repeated = findRepeatedCalls(source, listGivenTasks(source, results))
  assertNothingRepeated(source.fork.parent.runId, repeated)
  return log
}

/**
 * Returns what a fork would do, without creating it. Calls that it might repeat are listed and not refused.
 *
 * @throws {TuttiError} RUN_EXISTS, and as `addGiven`.
 */
export async function planPreview(
  accepted: AcceptedFork,
  settings: ForkServiceSettings,
  runs: Pick<RunStore, 'get'>,
): Promise<ForkPreview> {
  const { runId, request, source, ensemble } = accepted
  if (request.runId !== undefined && (await runs.get(runId)) !== undefined) throw runExists(runId)
  await addGiven({ ...accepted, ...request, runId }, settings)
  const given = listGivenTasks(source, request.results ?? {})
  return previewFork({
    ensemble,
    source,
    given,
    repeatedCalls: findRepeatedCalls(source, given),
  })
}
