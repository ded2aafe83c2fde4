/**
 * Pure: the trace of a run in AgentEnsemble's form, made of the run's record and its events alone.
 *
 * E1 The capture mode of the run's options says how much is told: OFF without messages and prompts, STANDARD
 *    with them, DETAILED and FULL with the inputs of tools as values too. STANDARD when nothing is said.
 * E2 A task that a delegation made is inside the delegation; every attempt at another one is a trace.
 * E3 A run that goes on is told as far as it is; `now` ends what has not ended.
 * E4 What is done by code has no trace, as in AgentEnsemble.
 */
import { attemptsOf, type TracedAttempt } from './attempts.ts'
import { isoDuration } from './iso-duration.ts'
import { taskTraceOf, type TraceParts } from './task-trace.ts'
import { addSums, runMetricsOf, sumsOf, taskMetricsOf } from './trace-metrics.ts'

import type { AgentSummary, ExecutionTrace, LoggedRunEvent, RunEventOf } from '@tutti/protocol'
import type { RunRecord } from '@tutti/runs'

/** AgentEnsemble's version of the form. */
const SCHEMA_VERSION = '1.1'

/** The trace of a run, at `now`, in milliseconds since 1970. */
export function executionTrace(
  run: RunRecord,
  events: readonly LoggedRunEvent[],
  now: number,
): ExecutionTrace {
  const captureMode = run.request?.options?.captureMode ?? 'STANDARD'
  const attempts = attemptsOf(events)
  const startedAt = run.startedAt ?? run.createdAt
  const completedAt = Math.max(run.completedAt ?? now, startedAt)
  const shares = find(events, 'run_result')?.metrics?.costEstimate
  const parts: TraceParts = {
    captureMode,
    lastAttempts: new Map(attempts.map((attempt) => [attempt.started.taskName, attempt])),
    shares,
    now: completedAt,
  }
  const sums = addSums(attempts.map(sumsOf))
  const byRole = Object.fromEntries(
    attempts.map((one) => [one.started.agentRole, taskMetricsOf(sumsOf(one), shares)]),
  )
  const metrics = runMetricsOf(sums, byRole, shares)
  return {
    schemaVersion: SCHEMA_VERSION,
    captureMode: captureMode === 'DETAILED' ? 'FULL' : captureMode,
    ensembleId: run.runId,
    workflow: run.workflow,
    startedAt: new Date(startedAt).toISOString(),
    completedAt: new Date(completedAt).toISOString(),
    totalDuration: isoDuration(run.durationMs ?? completedAt - startedAt),
    inputs: { ...run.inputs },
    agents: agentsOf(attempts),
    taskTraces: ownAttempts(attempts, events).map((attempt) => taskTraceOf(attempt, parts)),
    metrics,
    totalCostEstimate: metrics.totalCostEstimate,
    errors: events.flatMap((event) => (event.type === 'task_failed' ? [errorOf(event)] : [])),
    mapReduceLevels: [],
    loopTraces: [],
    graphTrace: null,
    traceId: null,
    metadata: {
      ensemble: run.ensemble,
      status: run.status,
      tags: run.tags,
      lastSeq: run.lastSeq,
      ...(sums.costUsd === undefined ? {} : { costUsd: sums.costUsd }),
    },
  }
}

function find<T extends LoggedRunEvent['type']>(
  events: readonly LoggedRunEvent[],
  type: T,
): RunEventOf<T> | undefined {
  const found = events.findLast((event) => event.type === type)
  // NOTE: it was looked for by its type.
  return found as RunEventOf<T> | undefined
}

/** E2, E4 */
function ownAttempts(
  attempts: readonly TracedAttempt[],
  events: readonly LoggedRunEvent[],
): readonly TracedAttempt[] {
  const delegated = new Set(
    events.flatMap((event) => (event.type === 'delegation_started' ? [event.workerTask] : [])),
  )
  return attempts.filter(
    ({ started, input }) => input !== undefined && !delegated.has(started.taskName),
  )
}

/** The agents at work, each once. */
function agentsOf(attempts: readonly TracedAttempt[]): AgentSummary[] {
  const agents = new Map<string, AgentSummary>()
  for (const { input, delegations } of attempts) {
    if (input === undefined) continue
    const { agentRole: role, agentGoal: goal, agentBackground: background, toolNames } = input
    const known = agents.get(role)
    agents.set(role, {
      role,
      goal,
      background,
      toolNames: [...new Set([...(known?.toolNames ?? []), ...toolNames])],
      allowDelegation: known?.allowDelegation === true || delegations.length > 0,
    })
  }
  return [...agents.values()]
}

function errorOf(event: RunEventOf<'task_failed'>): ExecutionTrace['errors'][number] {
  return {
    agentRole: event.agentRole,
    taskDescription: event.taskDescription,
    errorType: event.code,
    message: event.reason,
    stackTrace: '',
    occurredAt: event.failedAt,
  }
}
