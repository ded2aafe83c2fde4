/**
 * Checks which runs each build continued. Pure.
 *
 * CHAOS-D1 A process claims a run that another build has begun only if both have the same tasks, and the same code of
 *    every task that has begun; or a person has moved the run; or the run is being aborted. A process that claims an
 *    aborted run of other code makes no call.
 * CHAOS-D2 When only the last build is left, a run that has not ended waits for its build, and the last build may not
 *    continue it.
 */
import { mayContinue } from './builds.ts'

import type { Transition } from './database.ts'
import type { Rollout, WaitingRun } from './deploys.ts'
import type { Evidence, KeptRun } from './evidence.ts'
import type { LoggedRunEvent } from '@tutti/protocol'

/** Returns the violations, one sentence each; none without deploys. */
export function judgeDeploys(evidence: Evidence): readonly string[] {
  const { rollout, runs, transitions, calls } = evidence
  if (rollout === undefined) return []
  const claimsOf = Map.groupBy(
    transitions.filter(({ state }) => state === 'owned'),
    ({ runId }) => runId,
  )
  const waiting = new Map(rollout.waiting.map((run) => [run.runId, run]))
  return runs.flatMap((run) => {
    const claims = claimsOf.get(run.runId) ?? []
    const held = waiting.get(run.runId)
    return [
      ...judgeClaims(run, claims, { calls, rollout }),
      ...(held === undefined ? [] : judgeWaiting(run, held, rollout)),
    ].map((violation) => `${violation}: ${run.runId}`)
  })
}

/** Returns the number of runs that processes of several builds executed. */
export function countContinued({ rollout, transitions }: Evidence): number {
  const owned = transitions.filter(({ state }) => state === 'owned')
  const builds = Map.groupBy(owned, ({ runId }) => runId)
  return [...builds.values()].filter((claims) => {
    return new Set(claims.map(({ pid }) => rollout?.builds.get(pid))).size > 1
  }).length
}

function judgeClaims(
  run: KeptRun,
  claims: readonly Transition[],
  { calls, rollout }: { readonly calls: Evidence['calls']; readonly rollout: Rollout },
): readonly string[] {
  const violations: string[] = []
  const { builds, moved } = rollout
  const movedAt = moved.find(({ runId }) => runId === run.runId)?.at ?? Infinity
  const abortedAt = run.events.find(isAbort)?.seq ?? Infinity
  let previous: string | undefined
  for (const claim of claims) {
    const build = builds.get(claim.pid)
    if (build === undefined) {
      violations.push(`D1 claimed by process ${claim.pid} of an unknown build`)
      continue
    }
    const begun = listBegun(run, claim.lastSeq)
    const isRight =
      previous === undefined || !hasBegun(run, claim.lastSeq) || mayContinue(previous, build, begun)
    if (!isRight && claim.at < movedAt) {
      if (claim.lastSeq < abortedAt) {
        violations.push(
          `D1 build ${build} continued a run of ${previous} after ${begun.join(', ')}`,
        )
      } else if (calls.some((call) => call.runId === run.runId && call.pid === claim.pid)) {
        violations.push(`D1 build ${build} made calls in an aborted run of ${previous}`)
      }
    }
    previous = build
  }
  return violations
}

function isAbort(event: LoggedRunEvent): boolean {
  return event.type === 'run_cancelling' && event.mode === 'abort'
}

function judgeWaiting(
  run: KeptRun,
  { build, status, lastSeq }: WaitingRun,
  { last }: Rollout,
): readonly string[] {
  if (status !== 'WAITING_FOR_BUILD') return [`D2 is ${status} and not WAITING_FOR_BUILD`]
  return mayContinue(build, last, listBegun(run, lastSeq))
    ? [`D2 waits for ${build}, although ${last} may continue it`]
    : []
}

/** Whether any process had begun the run. */
function hasBegun({ events }: KeptRun, lastSeq: number): boolean {
  return events.some(({ type, seq }) => type === 'ensemble_started' && seq <= lastSeq)
}

/** Returns the tasks that have begun up to an event. */
function listBegun({ events }: KeptRun, lastSeq: number): readonly string[] {
  const begun = events.flatMap((event) =>
    event.type === 'task_started' && event.seq <= lastSeq ? [event.taskName] : [],
  )
  return [...new Set(begun)]
}
