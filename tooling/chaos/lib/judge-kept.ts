/**
 * Checks the runs that depend on other runs or on limits. Pure.
 *
 * CHAOS-K7 A fork has the events and steps of its parent up to its point, then `run_forked`.
 * CHAOS-K8 A deleted run is not stored, no table has rows of it, and its stream is not found. Until then it has its
 *    steps.
 * CHAOS-K9 Only ended runs are deleted; by the retention only beyond its limit, the oldest first.
 * CHAOS-K10 A run of a thread gets the question and the answer of each earlier run.
 * CHAOS-K11 A model call begins only while its run has tokens left, and only a run without any fails with
 *    BUDGET_EXCEEDED.
 */
import { isDeepStrictEqual } from 'node:util'

import { graphOf } from './builds.ts'
import { mayBeLost } from './lost-changes.ts'

import type { Evidence, KeptRun } from './evidence.ts'
import type { PlannedRun } from './plan.ts'
import type { LoggedRunEvent } from '@tutti/protocol'

/** Returns the violations, one sentence each. */
export function judgeKept(evidence: Evidence): readonly string[] {
  const { runs, submitted } = evidence
  const byId = new Map(runs.map((run) => [run.runId, run]))
  const planned = new Map(
    submitted.map((submit) => [submit.planned.idempotencyKey, submit.planned]),
  )
  const planOf = (run: KeptRun): PlannedRun | undefined => planned.get(run.idempotencyKey)
  const threads = Map.groupBy(runs, ({ thread }) => thread?.id)
  return [
    ...judgeDeleted(evidence, byId),
    ...judgeRetention(evidence),
    ...runs.flatMap((run) =>
      [
        ...judgeFork(run, planOf(run), byId),
        ...judgeThread(run, threads.get(run.thread?.id) ?? [], planOf),
        ...judgeBudget(run, planOf(run)?.maxTokens),
      ].map((violation) => `${violation}: ${run.runId}`),
    ),
  ]
}

function judgeFork(
  fork: KeptRun,
  planned: PlannedRun | undefined,
  byId: ReadonlyMap<string, KeptRun>,
): readonly string[] {
  const { parent, events, stepSeqs } = fork
  if (parent?.runId !== planned?.forkedFrom) {
    return [`K7 is a fork of ${parent?.runId}, not of ${planned?.forkedFrom}`]
  }
  if (parent === undefined) return []
  const { at } = parent
  const violations: string[] = []
  const next = events[at + 1]?.type
  if (next !== 'run_forked') violations.push(`K7 has ${next} after the copied events`)
  const original = byId.get(parent.runId)
  if (original === undefined) return violations
  const isCopied = (event: LoggedRunEvent, index: number): boolean =>
    index === 0 || isDeepStrictEqual(withoutIds(event), withoutIds(original.events[index]))
  const wrong = events.slice(0, at + 1).findIndex((event, index) => !isCopied(event, index))
  if (wrong !== -1) violations.push(`K7 event ${wrong} differs from that of ${parent.runId}`)
  const steps = [stepSeqs, original.stepSeqs].map((all) => all.filter((seq) => seq <= at))
  if (!isDeepStrictEqual(steps[0], steps[1])) {
    violations.push(`K7 has ${steps[0]?.length} of ${steps[1]?.length} steps of ${parent.runId}`)
  }
  return violations
}

/** Returns an event without what a fork changes. */
function withoutIds(event: LoggedRunEvent | undefined): object {
  const { id: _, runId: __, ...more } = event ?? {}
  const changed = event?.type === 'review_requested' ? { reviewId: '' } : {}
  return { ...more, ...(event?.type === 'ensemble_started' ? { ensembleId: '' } : changed) }
}

function judgeDeleted(evidence: Evidence, byId: ReadonlyMap<string, KeptRun>): readonly string[] {
  const { asked, deleted, leftovers, readAfterwards } = evidence
  const violations = leftovers.map((table) => `K8 table ${table} has rows of deleted runs`)
  for (const command of asked) {
    const { runId, what, answer } = command
    if (!byId.has(runId)) continue
    if (what.kind === 'delete' && answer === 'ok' && !mayBeLost(evidence, command)) {
      violations.push(`K8 was deleted and is stored: ${runId}`)
    }
    if (answer === 'STEPS_NOT_RETAINED') violations.push(`K8 has lost its steps: ${runId}`)
  }
  for (const { runId } of deleted) {
    const read = readAfterwards.find((reply) => reply.runId === runId)
    if (read === undefined || read.status === 404) continue
    violations.push(`K8 was deleted and its stream is answered with ${read.status}: ${runId}`)
  }
  return violations
}

function judgeRetention({ asked, deleted, runs, maxRetained }: Evidence): readonly string[] {
  const violations: string[] = []
  const byPeople = new Set(
    asked.flatMap(({ what, runId }) => (what.kind === 'delete' ? [runId] : [])),
  )
  const oldest = Math.min(
    ...runs.map(({ endedAt, state }) => (state === 'ended' ? endedAt : Infinity)),
  )
  for (const { runId, state, leftEnded, endedAt } of deleted) {
    if (state !== 'ended') violations.push(`K9 was deleted while it was ${state}: ${runId}`)
    if (byPeople.has(runId)) continue
    // A person may have deleted others between the choice of a run and its deletion.
    if (leftEnded + byPeople.size < maxRetained) {
      violations.push(`K9 was deleted, which left ${leftEnded} ended runs: ${runId}`)
    }
    if (endedAt > oldest) violations.push(`K9 was deleted before older ones: ${runId}`)
  }
  return violations
}

function judgeThread(
  run: KeptRun,
  thread: readonly KeptRun[],
  planOf: (run: KeptRun) => PlannedRun | undefined,
): readonly string[] {
  const number = run.thread?.number ?? 1
  const call = run.events.find((event) => event.type === 'llm_iteration_started')
  const earlier = thread
    .filter((other) => (other.thread?.number ?? 0) < number)
    .toSorted((a, b) => (a.thread?.number ?? 0) - (b.thread?.number ?? 0))
  // Others were deleted or lost; one without an answer has the text that it wrote so far.
  const hasAll = earlier.length === number - 1 && earlier.every(hasAnswer)
  if (call === undefined || !hasAll) return []
  const wanted = earlier.flatMap((other) => [
    { role: 'user', content: planOf(other)?.piece },
    { role: 'assistant', content: answerOf(other) },
  ])
  const conversation = call.messages
    .filter(({ role }) => role !== 'system')
    .map(({ role, content }) => ({ role, content }))
  const given = conversation.slice(0, -1)
  return isDeepStrictEqual(given, wanted)
    ? []
    : [`K10 got ${JSON.stringify(given)}, not ${JSON.stringify(wanted)}`]
}

function hasAnswer(run: KeptRun): boolean {
  return answerOf(run) !== undefined
}

function answerOf({ events, build }: KeptRun): string | undefined {
  const final = Object.keys(graphOf(build)).at(-1)
  return events
    .filter((event) => event.type === 'task_completed')
    .findLast(({ taskName }) => taskName === final)?.output
}

function judgeBudget({ events }: KeptRun, maxTokens = Infinity): readonly string[] {
  const violations: string[] = []
  let spent = 0
  for (const event of events) {
    if (event.type === 'llm_iteration_completed') {
      spent += event.inputTokens + event.outputTokens
    } else if (event.type === 'llm_iteration_started' && spent >= maxTokens) {
      violations.push(`K11 a call begins after ${spent} of ${maxTokens} tokens`)
    } else if (
      event.type === 'run_result' &&
      event.code === 'BUDGET_EXCEEDED' &&
      spent < maxTokens
    ) {
      violations.push(`K11 failed after ${spent} of ${maxTokens} tokens`)
    }
  }
  return violations
}
