/** Pure: from records of the run store, and from the registered parts, to bodies of the wire. */
import { addTokens, inputVariables, taskVariables, totalTokens } from '@tutti/ensemble'

import { shortText } from '@tutti/protocol'
import { sharedEnsembles, sharedTools, type Sharing, sharedTagsOf } from '@tutti/gateway'

import type { ModelCatalog, Task } from '@tutti/ensemble'
import type {
  Capabilities,
  PendingReview,
  PreconfiguredTask,
  RunAccepted,
  RunDetail,
  RunEventOf,
  RunMetrics,
  RunSummary,
  RunTaskDetail,
  SharedInfo,
} from '@tutti/protocol'
import type { ListedRun, ReviewRecord, RunRecord, RunWithTasks, TaskRecord } from '@tutti/runs'

/** The answer to an accepted submit. */
export function toRunAccepted({ runId, taskCount, workflow }: RunRecord): RunAccepted {
  return { runId, status: 'ACCEPTED', tasks: taskCount, workflow }
}

/** A run as the list shows it. */
export function toRunSummary(run: ListedRun): RunSummary {
  const { currentTask, costUsd, actor, completedAt, error } = run
  return {
    runId: run.runId,
    status: run.status,
    startedAt: formatInstant(run.startedAt ?? run.createdAt),
    durationMs: run.durationMs ?? null,
    taskCount: run.taskCount,
    completedTasks: run.completedTasks,
    workflow: run.workflow,
    tags: { ...run.tags },
    ...(currentTask === undefined
      ? {}
      : {
          currentTask: {
            name: shortText(currentTask.name, LISTED_ERROR_LENGTH),
            index: currentTask.taskIndex - 1,
          },
        }),
    ensemble: run.ensemble,
    totalTokens: run.totalTokens,
    totalToolCalls: run.totalToolCalls,
    ...(costUsd === undefined ? {} : { costUsd }),
    openReviews: run.openReviews,
    ...(actor === undefined ? {} : { submittedBy: actor }),
    ...(completedAt === undefined ? {} : { completedAt: formatInstant(completedAt) }),
    ...(error === undefined ? {} : { error: truncateError(error) }),
  }
}

/** Characters of an error that a list shows. */
const LISTED_ERROR_LENGTH = 300

/** The start of an error; not half of a character at its end. */
function truncateError(error: string): string {
  if (error.length <= LISTED_ERROR_LENGTH) return error
  return error.slice(0, LISTED_ERROR_LENGTH).replace(/[\ud800-\udbff]$/, '')
}

/**
 * A run with everything that is known of it, the reviews of it that are open, and the event with which it
 * ended.
 */
export function toRunDetail(
  { run, tasks }: RunWithTasks,
  openReviews: readonly ReviewRecord[],
  result?: Pick<RunEventOf<'run_result'>, 'metrics'>,
): RunDetail {
  const { options, budget } = run.request ?? {}
  return {
    runId: run.runId,
    status: run.status,
    startedAt: formatInstant(run.startedAt ?? run.createdAt),
    ...(run.completedAt === undefined ? {} : { completedAt: formatInstant(run.completedAt) }),
    ...(run.durationMs === undefined ? {} : { durationMs: run.durationMs }),
    workflow: run.workflow,
    inputs: { ...run.inputs },
    tags: { ...run.tags },
    tasks: tasks.map(toTaskDetail),
    metrics: sumMetrics(tasks, result?.metrics?.costEstimate),
    pendingReviews: openReviews.map(toPendingReview),
    ...(run.error === undefined ? {} : { error: run.error }),
    ensemble: run.ensemble,
    lastSeq: run.lastSeq,
    ...(options === undefined ? {} : { options }),
    ...(budget === undefined ? {} : { budget }),
    ...(run.actor === undefined ? {} : { submittedBy: run.actor }),
    ...(run.webhooks === undefined ? {} : { webhooks: [...run.webhooks] }),
  }
}

function sumMetrics(
  tasks: readonly TaskRecord[],
  costEstimate: RunMetrics['costEstimate'],
): RunMetrics {
  const costUsd = sumCosts(tasks)
  return {
    totalTokens: totalTokens(addTokens(tasks)),
    totalToolCalls: tasks.reduce((sum, { toolCallCount }) => sum + toolCallCount, 0),
    ...(costEstimate === undefined ? {} : { costEstimate }),
    ...(costUsd === undefined ? {} : { costUsd }),
  }
}

/** What tasks have cost so far; undefined as soon as one has used tokens without a price. */
function sumCosts(tasks: readonly TaskRecord[]): number | undefined {
  const costs = tasks.map((task) => task.costUsd ?? (totalTokens(task) === 0 ? 0 : undefined))
  return costs.reduce<number | undefined>(
    (sum, cost) => (sum === undefined || cost === undefined ? undefined : sum + cost),
    0,
  )
}

/** A review that waits for a decision. */
export function toPendingReview(review: ReviewRecord): PendingReview {
  const { reviewId, runId, request, openedAt, expiresAt } = review
  const { taskDescription, taskOutput, timing, prompt, timeoutMs, onTimeout } = request
  const { requiredRole, taskName, agentRole, attempt, toolName, toolCallId, toolInput } = request
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
    createdAt: formatInstant(openedAt),
    ...(expiresAt === undefined ? {} : { expiresAt: formatInstant(expiresAt) }),
    taskName,
    agentRole,
    attempt,
    ...(toolName === undefined ? {} : { toolName }),
    ...(toolCallId === undefined ? {} : { toolCallId }),
    ...(toolInput === undefined ? {} : { toolInput }),
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
    ...(task.outputOmitted === true ? { outputOmitted: true } : {}),
    index: task.taskIndex,
    attempt: task.attempt,
    ...(task.error === undefined ? {} : { error: task.error }),
    ...(task.finishReason === undefined ? {} : { finishReason: task.finishReason }),
  }
}

/** What the server can do, and what of it is shared with peers. */
export function toCapabilities(parts: Sharing & { readonly models: ModelCatalog }): Capabilities {
  const { tools, models } = parts
  const { ensembles } = parts.runs
  return {
    tools: tools.tools.map(({ name, description, inputSchema }) => ({
      name,
      description,
      inputSchema: { ...inputSchema },
    })),
    models: [...models.models].map(([alias, { provider }]) => ({ alias, provider })),
    modelTiers: [...models.tiers].map(([name, model]) => ({ name, model })),
    profiles: Object.entries(parts.runs.profiles).map(([name, { modelTier }]) => ({
      name,
      ...(modelTier === undefined ? {} : { modelTier }),
    })),
    sharedTasks: sharedEnsembles(parts).map((one) => toSharedInfo(parts, one)),
    sharedTools: sharedTools(parts).map((one) => toSharedInfo(parts, one)),
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

function toSharedInfo(sharing: Sharing, { name, description }: SharedInfo): SharedInfo {
  return { name, description, ...sharedTagsOf(sharing, name) }
}

function toPreconfiguredTask(task: Task): PreconfiguredTask {
  return {
    name: task.name,
    description: task.description,
    tools: task.tools.map(({ name }) => name),
    variables: [...taskVariables(task)],
  }
}

function formatInstant(instant: number): string {
  return new Date(instant).toISOString()
}
