/** Pure: from records of the run store, and from the registered parts, to bodies of the wire. */
import { addTokens, inputVariables, taskVariables, totalTokens } from '@tutti/ensemble'

import type { ToolCatalog } from '@tutti/core'
import type { Ensemble, ModelCatalog, Task } from '@tutti/ensemble'
import type {
  Capabilities,
  PendingReview,
  PreconfiguredTask,
  RunAccepted,
  RunDetail,
  RunSummary,
  RunTaskDetail,
} from '@tutti/protocol'
import type { ReviewRecord, RunRecord, RunWithTasks, TaskRecord } from '@tutti/runs'

/** The answer to an accepted submit. */
export function toRunAccepted({ runId, taskCount, workflow }: RunRecord): RunAccepted {
  return { runId, status: 'ACCEPTED', tasks: taskCount, workflow }
}

/** A run as the list shows it. */
export function toRunSummary(run: RunRecord, current: TaskRecord | undefined): RunSummary {
  return {
    runId: run.runId,
    status: run.status,
    startedAt: iso(run.startedAt ?? run.createdAt),
    durationMs: run.durationMs ?? null,
    taskCount: run.taskCount,
    completedTasks: run.completedTasks,
    workflow: run.workflow,
    tags: { ...run.tags },
    ...(current === undefined
      ? {}
      : { currentTask: { name: current.name, index: current.taskIndex - 1 } }),
    ensemble: run.ensemble,
  }
}

/** A run with everything that is known of it, and the reviews of it that are open. */
export function toRunDetail(
  { run, tasks }: RunWithTasks,
  openReviews: readonly ReviewRecord[],
): RunDetail {
  return {
    runId: run.runId,
    status: run.status,
    startedAt: iso(run.startedAt ?? run.createdAt),
    ...(run.completedAt === undefined ? {} : { completedAt: iso(run.completedAt) }),
    ...(run.durationMs === undefined ? {} : { durationMs: run.durationMs }),
    workflow: run.workflow,
    inputs: { ...run.inputs },
    tags: { ...run.tags },
    tasks: tasks.map(toTaskDetail),
    metrics: {
      totalTokens: totalTokens(addTokens(tasks)),
      totalToolCalls: tasks.reduce((sum, { toolCallCount }) => sum + toolCallCount, 0),
    },
    pendingReviews: openReviews.map(toPendingReview),
    ...(run.error === undefined ? {} : { error: run.error }),
    ensemble: run.ensemble,
    lastSeq: run.lastSeq,
  }
}

/** A review that waits for a decision. */
export function toPendingReview(review: ReviewRecord): PendingReview {
  const { reviewId, runId, request, openedAt, expiresAt } = review
  const { taskDescription, taskOutput, timing, prompt, timeoutMs, onTimeout, requiredRole } =
    request
  return {
    reviewId,
    taskDescription,
    taskOutput,
    timing,
    ...(prompt === undefined ? {} : { prompt }),
    timeoutMs,
    onTimeout,
    ...(requiredRole === undefined ? {} : { requiredRole }),
    runId,
    createdAt: iso(openedAt),
    ...(expiresAt === undefined ? {} : { expiresAt: iso(expiresAt) }),
  }
}

function toTaskDetail(task: TaskRecord): RunTaskDetail {
  return {
    name: task.name,
    description: task.description,
    status: task.status,
    agentRole: task.agentRole,
    ...(task.durationMs === undefined ? {} : { durationMs: task.durationMs }),
    tokenCount: totalTokens(task),
    toolCallCount: task.toolCallCount,
    ...(task.output === undefined ? {} : { output: task.output }),
    index: task.taskIndex,
    attempt: task.attempt,
    ...(task.error === undefined ? {} : { error: task.error }),
  }
}

/** What the server can do. */
export function toCapabilities(
  ensembles: readonly Ensemble[],
  tools: ToolCatalog,
  models: ModelCatalog,
): Capabilities {
  return {
    tools: tools.tools.map(({ name, description, inputSchema }) => ({
      name,
      description,
      inputSchema: { ...inputSchema },
    })),
    models: [...models.models].map(([alias, { provider }]) => ({ alias, provider })),
    sharedTasks: [],
    sharedTools: [],
    preconfiguredTasks: (ensembles[0]?.tasks ?? []).map(toPreconfiguredTask),
    ensembles: ensembles.map(({ name, description, plan, tasks }) => ({
      name,
      description,
      workflow: plan.workflow,
      variables: [...inputVariables(tasks)],
      tasks: tasks.map(toPreconfiguredTask),
    })),
  }
}

function toPreconfiguredTask(task: Task): PreconfiguredTask {
  return {
    name: task.name,
    description: task.description,
    tools: task.tools.map(({ name }) => name),
    variables: [...taskVariables(task)],
  }
}

function iso(instant: number): string {
  return new Date(instant).toISOString()
}
