/**
 * Decides what a caller may do with runs and threads of other callers. Every reader of a run finds it through
 * `find-run.ts`, which asks here; the scope of a route is checked in addition.
 *
 * GW-A4 A caller may read the runs that it submitted. All others require `runs:read`, also where the run is only the
 *    source of something else: a fork, a replay, a preview, a comparison, a response, or the next run of a thread.
 * GW-A5 A caller may read a thread if it created it and submitted all of its runs. All others require `runs:read`.
 * GW-A6 A caller may cancel the runs that it submitted when its connection is lost or it asks for another answer. All
 *    others require `runs:control`.
 * GW-A7 Results of client tools come from the caller that submitted the run, with `runs:write`, or from one with
 *    `runs:control`. A wait for an event requires `runs:control`. All other reviews require `reviews:decide`.
 * GW-A8 A refusal for a run of another caller is FORBIDDEN and names the scope. An unknown id is not found.
 * GW-A9 An action that answers with a schedule, or with a run of it, requires `runs:read` unless the caller saved the schedule.
 */
import { assertScope, hasScope, type Caller } from '../caller.ts'

import type { Scope } from '@tutti/protocol'
import type { RunService } from '@tutti/runs'
import type { ReviewRecord } from '@tutti/runs/adapter'

/** A run, a thread or a schedule with the key that submitted, created or saved it. */
interface Owned {
  readonly actor?: string | undefined
}

/** Number of runs of a thread that are read at a time. */
const PAGE = 100

/** Whether a caller submitted a run, created a thread or saved a schedule. */
export function isOwn({ name }: Pick<Caller, 'name'>, { actor }: Owned): boolean {
  return actor === name
}

/**
 * Refuses a caller that may not read a run (GW-A4) or a schedule (GW-A9).
 *
 * @throws {TuttiError} FORBIDDEN, naming the scope that is missing.
 */
export function assertMayRead(caller: Caller, run: Owned): void {
  if (!isOwn(caller, run)) assertScope(caller, 'runs:read')
}

/**
 * Refuses a caller that may not read a run with this id, if it exists.
 *
 * @throws {TuttiError} FORBIDDEN.
 */
export async function assertMayReadRun(
  runs: Pick<RunService, 'record'>,
  runId: string,
  caller: Caller,
): Promise<void> {
  if (hasScope(caller, 'runs:read')) return
  const run = await runs.record(runId)
  if (run !== undefined) assertMayRead(caller, run)
}

/**
 * Refuses a caller that may not read a thread with this id, if it exists (GW-A5).
 *
 * @throws {TuttiError} FORBIDDEN.
 */
export async function assertMayReadThread(
  runs: Pick<RunService, 'threads' | 'list'>,
  threadId: string,
  caller: Caller,
): Promise<void> {
  if (hasScope(caller, 'runs:read')) return
  const thread = await runs.threads.get(threadId)
  if (thread === undefined) return
  assertMayRead(caller, thread)
  let before: number | undefined
  do {
    const page = await runs.list({ threadId, limit: PAGE, before })
    for (const run of page.runs) assertMayRead(caller, run)
    before = page.runs.length < PAGE ? undefined : page.runs.at(-1)?.place
  } while (before !== undefined)
}

/** Returns the scope for cancelling a run whose caller has left; null for its own run (GW-A6). */
export function cancelScope(caller: Pick<Caller, 'name'>, run: Owned): Scope | null {
  return isOwn(caller, run) ? null : 'runs:control'
}

/** Returns the scope that a caller needs to decide a review (GW-A7). */
export function decisionScope(
  caller: Pick<Caller, 'name' | 'scopes'>,
  { actor, request: { kind } }: Owned & { readonly request: DecisionRequest },
): Scope {
  // Events decide an EVENT. Another decision is a change of the run.
  if (kind === 'EVENT') return 'runs:control'
  if (kind !== 'CLIENT_TOOL') return 'reviews:decide'
  return isOwn(caller, { actor }) && !hasScope(caller, 'runs:control')
    ? 'runs:write'
    : 'runs:control'
}

type DecisionRequest = Pick<ReviewRecord['request'], 'kind'>

/** Returns the scope that a caller needs to decide the review with this id. */
export async function findDecisionScope(
  runs: Pick<RunService, 'reviews'>,
  reviewId: string,
  caller: Caller,
): Promise<Scope> {
  const review = await runs.reviews.get(reviewId)
  return review === undefined ? 'reviews:decide' : decisionScope(caller, review)
}
