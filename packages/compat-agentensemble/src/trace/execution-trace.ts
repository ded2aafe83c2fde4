/**
 * Builds the trace of a run in AgentEnsemble's format from the record of the run and its events. Pure.
 *
 * AE-E1 The capture mode of the run's options controls the content: OFF has no messages and prompts, STANDARD has
 *    them, DETAILED and FULL also have the inputs of tools as values. The default is STANDARD.
 * AE-E2 Every attempt at a task is one task trace. A delegated task is inside its delegation. The tasks that the
 *    manager of a HIERARCHICAL run delegates are also at top level, before the manager, because AgentEnsemble's viewer
 *    shows only top-level tasks. Tasks that a task without a trace has added are at top level.
 * AE-E3 The trace of a running run ends at `now`.
 * AE-E4 Tasks with a handler have no trace, as in AgentEnsemble, nor do those with `forEach` or an ensemble.
 * AE-E5 Lists are never null, and missing outputs are null, never absent. AgentEnsemble's viewer relies on both.
 */
import { collectAttempts, type TracedAttempt } from './attempts.ts'
import { formatJavaDuration } from './iso-duration.ts'
import { buildTaskTrace, type TraceParts } from './task-trace.ts'
import { addSums, toTraceMetrics, sumAttempt, toTaskMetrics } from './trace-metrics.ts'

import type { LoggedRunEvent, RunEventOf } from '@tutti/protocol'
import type { AgentSummary, ExecutionTrace, Workflow } from '@tutti/protocol/internal'
import type { RunRecord } from '@tutti/runs/adapter'

/** AgentEnsemble's version of the format. */
const SCHEMA_VERSION = '1.1'

/** Returns the trace of a run at `now`, in milliseconds since 1970. */
export function buildExecutionTrace(
  run: RunRecord,
  events: readonly LoggedRunEvent[],
  now: number,
): ExecutionTrace {
  const captureMode = run.request?.options?.captureMode ?? 'STANDARD'
  const attempts = collectAttempts(events)
  const startedAt = run.startedAt ?? run.createdAt
  const completedAt = Math.max(run.completedAt ?? now, startedAt)
  const shares = findLastEvent(events, 'run_result')?.metrics?.costEstimate
  const parts: TraceParts = {
    captureMode,
    lastAttempts: new Map(attempts.map((attempt) => [attempt.started.taskName, attempt])),
    shares,
    now: completedAt,
  }
  const sums = addSums(attempts.map(sumAttempt))
  const byRole = Object.fromEntries(
    attempts.map((one) => [one.started.agentRole, toTaskMetrics(sumAttempt(one), shares)]),
  )
  const metrics = toTraceMetrics(sums, byRole, shares)
  return {
    schemaVersion: SCHEMA_VERSION,
    captureMode: captureMode === 'DETAILED' ? 'FULL' : captureMode,
    ensembleId: run.runId,
    workflow: run.workflow,
    startedAt: new Date(startedAt).toISOString(),
    completedAt: new Date(completedAt).toISOString(),
    totalDuration: formatJavaDuration(run.durationMs ?? completedAt - startedAt),
    inputs: { ...run.inputs },
    agents: collectAgents(attempts),
    taskTraces: selectTopAttempts(attempts, events, run.workflow).map((attempt) =>
      buildTaskTrace(attempt, parts),
    ),
    metrics,
    totalCostEstimate: metrics.totalCostEstimate,
    errors: events.flatMap((event) =>
      event.type === 'task_failed' || event.type === 'task_attempt_failed'
        ? [toTraceError(event)]
        : [],
    ),
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

function findLastEvent<T extends LoggedRunEvent['type']>(
  events: readonly LoggedRunEvent[],
  type: T,
): RunEventOf<T> | undefined {
  const found = events.findLast((event) => event.type === type)
  // NOTE: the predicate has compared its type.
  return found as RunEventOf<T> | undefined
}

/** Selects the attempts whose traces are at top level (AE-E2, AE-E4). */
function selectTopAttempts(
  attempts: readonly TracedAttempt[],
  events: readonly LoggedRunEvent[],
  workflow: Workflow,
): readonly TracedAttempt[] {
  const delegations = events.filter((event) => event.type === 'delegation_started')
  const traced = attempts.filter(({ input }) => input !== undefined)
  const tracedNames = new Set(traced.map(({ started }) => started.taskName))
  const inside = new Set(
    delegations.flatMap(({ taskName, workerTask }) =>
      tracedNames.has(taskName) ? workerTask : [],
    ),
  )
  const own = traced.filter(({ started }) => !inside.has(started.taskName))
  if (workflow !== 'HIERARCHICAL') return own
  const byManager = new Set(
    delegations.flatMap(({ depth, workerTask }) => (depth === 1 ? workerTask : [])),
  )
  const isByManager = ({ started }: TracedAttempt): boolean => byManager.has(started.taskName)
  return [...traced.filter(isByManager), ...own.filter((attempt) => !isByManager(attempt))]
}

/** Returns the agents of all attempts, each once, with the tools of all their tasks. */
function collectAgents(attempts: readonly TracedAttempt[]): AgentSummary[] {
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

function toTraceError(
  event: RunEventOf<'task_attempt_failed' | 'task_failed'>,
): ExecutionTrace['errors'][number] {
  return {
    agentRole: event.agentRole,
    taskDescription: event.taskDescription,
    errorType: event.code,
    message: event.reason,
    stackTrace: '',
    occurredAt: event.failedAt,
  }
}
