/**
 * Checks that every run was stored correctly. Pure.
 *
 * CHAOS-K1 Each idempotency key is one run, and each submit under it was answered with that run; there are no other
 *    runs. A run is missing only if it was deleted, or every submit of it may be lost (`lost-changes.ts`).
 * CHAOS-K2 Each run has ended: COMPLETED, or CANCELLED when a person cancelled it, or FAILED when it exceeded its
 *    budget or lost four owners to faults, without an owner, unanswered commands or open reviews.
 * CHAOS-K3 Its events are numbered from 0 without gaps; the last one is its only result, and equals the record of the
 *    run.
 * CHAOS-K4 A task completes once; all tasks of a COMPLETED run do, with the output of an undisturbed run.
 * CHAOS-K5 A tool call ends once.
 * CHAOS-K6 The epoch grows with each owner. A review ends once.
 */
import { BUILDS, graphOf, outputOf } from './builds.ts'
import { EDITED_OUTPUT } from './plan.ts'
import { endedCallsOf } from './judge-calls.ts'

import { mayBeLost } from './lost-changes.ts'

import type { Evidence, KeptRun } from './evidence.ts'
import type { LoggedRunEvent } from '@tutti/protocol'

/** Number of owners in a row that a run may lose; then it counts as the cause. */
const MAX_LOST_OWNERS = 4

/** Number of calls of each task in the ensembles of `chaos.config.mjs`. */
const CALLS_OF_TASK = 5

/** Returns the violations, one sentence each. */
export function judgeRuns(evidence: Evidence): readonly string[] {
  const cancelled = new Set(
    evidence.asked.flatMap(({ what, runId }) => (what.kind === 'cancel' ? [runId] : [])),
  )
  const limited = new Set(
    evidence.submitted.flatMap(({ planned }) =>
      planned.maxTokens === undefined ? [] : [planned.idempotencyKey],
    ),
  )
  return [
    ...judgeSubmits(evidence),
    ...evidence.runs.flatMap((run) =>
      [
        ...judgeEnd(run, {
          isCancelled: cancelled.has(run.runId),
          hasBudget: limited.has(run.idempotencyKey),
          losses: countLosses(run, evidence),
        }),
        ...judgeLog(run),
        ...judgeTasks(run),
        ...judgeOrder(run),
      ].map((violation) => `${violation}: ${run.runId}`),
    ),
  ]
}

function judgeSubmits(evidence: Evidence): readonly string[] {
  const { submitted, runs, deleted } = evidence
  const violations: string[] = []
  const byKey = Map.groupBy(runs, ({ idempotencyKey }) => idempotencyKey)
  for (const { planned, answers } of submitted) {
    const key = planned.idempotencyKey
    const kept = byKey.get(key) ?? []
    byKey.delete(key)
    const count = kept.length + deleted.filter((run) => run.idempotencyKey === key).length
    // A fork can be refused, because its parent was deleted.
    if (planned.forkedFrom !== undefined && answers.length === 0 && count <= 1) continue
    const lasting = answers.filter((answer) => !mayBeLost(evidence, answer))
    const isLost = answers.length > 0 && lasting.length === 0
    if (count > 1 || (count === 0 && !isLost)) {
      violations.push(`K1 ${count} runs have the key ${key}`)
    }
    const runIds = [...new Set(lasting.map(({ runId }) => runId))]
    if (runIds.length > 1 || answers.length === 0) {
      violations.push(`K1 ${key} was answered with ${runIds.length} ids`)
    }
    const [run] = kept
    const [runId = run?.runId] = runIds
    if (run !== undefined && run.runId !== runId) {
      violations.push(`K1 ${key} was answered with ${runId}, and is ${run.runId}`)
    }
  }
  for (const [key, kept] of byKey) {
    violations.push(`K1 ${kept.length} runs have the key ${key}, which was not submitted`)
  }
  return violations
}

/** Returns the number of owners that a run lost to a process or database fault. */
function countLosses({ runId }: KeptRun, { faults, transitions }: Evidence): number {
  const changes = transitions.filter((change) => change.runId === runId)
  return changes.filter((claim, index) => {
    const next = changes[index + 1]
    if (claim.state !== 'owned' || next === undefined || next.state === 'ended') return false
    return faults.some(
      ({ kind, at, until, pids }) =>
        !kind.includes('nats') &&
        at <= next.at &&
        until >= claim.at &&
        (pids.length === 0 || pids.includes(claim.pid)),
    )
  }).length
}

function judgeEnd(
  run: KeptRun,
  {
    isCancelled,
    hasBudget,
    losses,
  }: { readonly isCancelled: boolean; readonly hasBudget: boolean; readonly losses: number },
): readonly string[] {
  const violations: string[] = []
  const { status, state, openCommands, openReviews, hasOwner } = run
  if (state !== 'ended') violations.push(`K2 is ${state}, not ended`)
  const result = run.events.findLast((event) => event.type === 'run_result')
  const mayFail =
    (hasBudget && result?.code === 'BUDGET_EXCEEDED') ||
    (losses >= MAX_LOST_OWNERS && result?.code === 'PROCESS_LOST')
  const isRight =
    status === 'COMPLETED' ||
    (status === 'CANCELLED' && isCancelled) ||
    (status === 'FAILED' && mayFail)
  if (!isRight) {
    const why = result === undefined ? '' : ` (${result.code}: ${result.error})`
    violations.push(`K2 is ${status}${why}`)
  }
  const left = Object.entries({ openCommands, openReviews, owners: Number(hasOwner) })
  for (const [what, count] of left) {
    if (count > 0) violations.push(`K2 has ${count} ${what} left`)
  }
  return violations
}

function judgeLog({ events, lastSeq, status }: KeptRun): readonly string[] {
  const violations: string[] = []
  const gap = events.findIndex(({ seq }, index) => seq !== index)
  if (gap !== -1) violations.push(`K3 has event ${events[gap]?.seq} in place of ${gap}`)
  if (lastSeq !== events.length - 1) {
    violations.push(`K3 has ${events.length} events and says that the last one is ${lastSeq}`)
  }
  const results = events.filter((event) => event.type === 'run_result')
  if (results.length !== 1 || events.at(-1)?.type !== 'run_result') {
    violations.push(`K3 has ${results.length} results and ends with ${events.at(-1)?.type}`)
  }
  if (results[0]?.status !== status) {
    violations.push(`K3 is ${status} and its result says ${results[0]?.status}`)
  }
  return violations
}

function judgeTasks(run: KeptRun): readonly string[] {
  const violations: string[] = []
  const completed = run.events.filter((event) => event.type === 'task_completed')
  const byTask = Map.groupBy(completed, ({ taskName }) => taskName)
  for (const [task, ends] of byTask) {
    if (ends.length > 1) violations.push(`K4 task ${task} completed ${ends.length} times`)
    const wanted = run.ensemble === 'hold' ? ['Held'] : [EDITED_OUTPUT, ...listOutputs(task, run)]
    if (!wanted.includes(ends[0]?.output ?? '')) {
      violations.push(`K4 task ${task} gave "${ends[0]?.output}"`)
    }
  }
  if (run.status === 'COMPLETED') {
    const tasks = run.ensemble === 'hold' ? ['hold'] : Object.keys(graphOf(run.build))
    const missing = tasks.filter((task) => !byTask.has(task))
    if (missing.length > 0) violations.push(`K4 is COMPLETED without ${missing.join(', ')}`)
  }
  if (run.completedTasks !== completed.length) {
    violations.push(`K4 counts ${run.completedTasks} completed tasks, its log ${completed.length}`)
  }
  for (const [key, ends] of endedCallsOf(run)) {
    if (ends.length > 1) violations.push(`K5 call ${key} ended ${ends.length} times`)
  }
  return violations
}

/** Returns the right outputs of a task. Any build may take a run that is being cancelled, after tasks of another one. */
function listOutputs(task: string, { build, status }: KeptRun): readonly string[] {
  const builds = status === 'CANCELLED' ? BUILDS : [build]
  return builds.map((name) => outputOf(task, CALLS_OF_TASK, graphOf(name)[task]))
}

function judgeOrder({ events, parent }: KeptRun): readonly string[] {
  const violations: string[] = []
  const own = events.slice((parent?.at ?? -1) + 1)
  const epochs = own.flatMap((event) => (event.type === 'run_resumed' ? [event.epoch] : []))
  if (epochs.some((epoch, index) => index > 0 && epoch <= (epochs[index - 1] ?? 0))) {
    violations.push(`K6 has the epochs ${epochs.join(', ')}`)
  }
  const ends = events.flatMap((event) => (endsReview(event) ? [event.reviewId] : []))
  for (const event of events) {
    if (event.type !== 'review_requested') continue
    const count = ends.filter((reviewId) => reviewId === event.reviewId).length
    if (count !== 1) violations.push(`K6 review ${event.reviewId} ended ${count} times`)
  }
  return violations
}

type ReviewEnd = Extract<
  LoggedRunEvent,
  { type: 'review_decided' | 'review_timed_out' | 'review_withdrawn' }
>

function endsReview(event: LoggedRunEvent): event is ReviewEnd {
  return /^review_(?:decided|timed_out|withdrawn)$/.test(event.type)
}
