/** Converts records of the run store and registered parts to bodies of the wire. Pure. */
import { inputVariables, listWorkingTasks, taskVariables } from '@tutti/ensemble/internal'

import { addCosts, addTokens, shortText, totalTokens } from '@tutti/protocol/internal'
import { sharedEnsembles, sharedTools, type Sharing, sharedTagsOf } from '@tutti/gateway/internal'

import type { ModelCatalog, Task } from '@tutti/ensemble'
import type {
  Capabilities,
  PendingReview,
  RunAccepted,
  RunDetail,
  RunEventOf,
  RunMetrics,
  RunSummary,
  Thread,
} from '@tutti/protocol'
import type {
  PreconfiguredTask,
  RunTaskDetail,
  SharedInfo,
  ThreadRun,
} from '@tutti/protocol/internal'
import type { ListedRun } from '@tutti/runs'
import type {
  ReviewRecord,
  RunRecord,
  RunWithTasks,
  TaskRecord,
  ThreadRecord,
} from '@tutti/runs/adapter'
import type { ThreadRunMessages } from '@tutti/runs/internal'

/** Returns the response to an accepted submission. */
export function toRunAccepted({ runId, taskCount, workflow, startAt }: RunRecord): RunAccepted {
  const delay = startAt === undefined ? {} : { startAt: formatInstant(startAt) }
  return { runId, status: 'ACCEPTED', tasks: taskCount, workflow, ...delay }
}

/** Returns the times of a run's start, and its order among the runs that wait. */
function toStart(
  run: Pick<
    RunRecord,
    'createdAt' | 'startAt' | 'startBy' | 'startedAt' | 'priority' | 'fairnessKey'
  >,
) {
  const { createdAt, startAt, startBy, startedAt, priority, fairnessKey } = run
  return {
    startedAt: formatInstant(startedAt ?? createdAt),
    ...(startAt === undefined ? {} : { startAt: formatInstant(startAt) }),
    ...(startBy === undefined ? {} : { startBy: formatInstant(startBy) }),
    ...(priority === undefined ? {} : { priority }),
    ...(fairnessKey === undefined ? {} : { fairnessKey }),
    // The clocks of two processes may differ.
    ...(startedAt === undefined
      ? {}
      : { queuedMs: Math.max(0, Math.round(startedAt - (startAt ?? createdAt))) }),
  }
}

/** Converts a run to an entry of the list. */
export function toRunSummary(run: ListedRun): RunSummary {
  const { currentTask, costUsd, actor, completedAt, error } = run
  return {
    runId: run.runId,
    status: run.status,
    ...toStart(run),
    durationMs: run.durationMs ?? null,
    taskCount: run.taskCount,
    completedTasks: run.completedTasks,
    skippedTasks: run.skippedTasks,
    workflow: run.workflow,
    tags: { ...run.tags },
    ...(currentTask === undefined
      ? {}
      : {
          currentTask: {
            name: shortText(currentTask.name, MAX_LISTED_LENGTH),
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
    ...(run.threadId === undefined ? {} : { threadId: run.threadId }),
    ...(run.build === undefined ? {} : { build: run.build }),
    ...(run.code === undefined ? {} : { code: run.code }),
    ...toUnreadable(run),
  }
}

/** Converts a thread. */
export function toThread(thread: ThreadRecord): Thread {
  const { threadId, title, tags, createdAt, changedAt, actor, runCount, newestRun } = thread
  return {
    threadId,
    ...(title === undefined ? {} : { title }),
    tags: { ...tags },
    createdAt: formatInstant(createdAt),
    updatedAt: formatInstant(changedAt),
    ...(actor === undefined ? {} : { createdBy: actor }),
    runCount,
    ...(newestRun === undefined ? {} : { newestRun }),
    ...toUnreadable(thread),
  }
}

/** Converts a run of a thread. */
export function toThreadRun(run: ThreadRunMessages): ThreadRun {
  const { runId, status, ensemble, createdAt, completedAt, error } = run
  const { userMessage, assistantMessage } = run
  return {
    runId,
    status,
    ensemble,
    submittedAt: formatInstant(createdAt),
    ...(completedAt === undefined ? {} : { completedAt: formatInstant(completedAt) }),
    ...(error === undefined ? {} : { error: truncateError(error) }),
    userMessage,
    ...(assistantMessage === undefined ? {} : { assistantMessage }),
    ...toUnreadable(run),
  }
}

/** Maximum length of an error or task name in the list, in characters. */
const MAX_LISTED_LENGTH = 300

/** Returns the start of an error, without splitting a surrogate pair. */
export function truncateError(error: string): string {
  if (error.length <= MAX_LISTED_LENGTH) return error
  return error.slice(0, MAX_LISTED_LENGTH).replace(/[\ud800-\udbff]$/, '')
}

/** Converts a run to its detail, with its tasks, its open reviews and the metrics of its last event. */
export function toRunDetail(
  { run, tasks }: RunWithTasks,
  openReviews: readonly ReviewRecord[],
  result?: Pick<RunEventOf<'run_result'>, 'metrics' | 'cancel'>,
): RunDetail {
  const { options, budget } = run.request ?? {}
  return {
    runId: run.runId,
    status: run.status,
    ...toStart(run),
    ...(run.completedAt === undefined ? {} : { completedAt: formatInstant(run.completedAt) }),
    ...(run.durationMs === undefined ? {} : { durationMs: run.durationMs }),
    workflow: run.workflow,
    inputs: { ...run.inputs },
    tags: { ...run.tags },
    tasks: tasks.map(toTaskDetail),
    metrics: sumMetrics(tasks, result?.metrics?.costEstimate),
    pendingReviews: openReviews.map(toPendingReview),
    ...(run.error === undefined ? {} : { error: run.error }),
    ...(result?.cancel === undefined ? {} : { cancel: result.cancel }),
    ensemble: run.ensemble,
    lastSeq: run.lastSeq,
    ...(options === undefined ? {} : { options }),
    ...(budget === undefined ? {} : { budget }),
    ...(run.actor === undefined ? {} : { submittedBy: run.actor }),
    ...(run.webhooks === undefined ? {} : { webhooks: [...run.webhooks] }),
    ...(run.threadId === undefined ? {} : { threadId: run.threadId }),
    ...(run.parent === undefined ? {} : { parent: { ...run.parent } }),
    ...(run.build === undefined ? {} : { build: run.build }),
    ...(run.code === undefined ? {} : { code: run.code }),
    ...toUnreadable(run),
  }
}

/** Returns the reason why a part of a record cannot be read, if there is one. */
function toUnreadable({ unreadable }: { readonly unreadable?: string }): { unreadable?: string } {
  return unreadable === undefined ? {} : { unreadable: truncateError(unreadable) }
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

/** Sums the cost of tasks; undefined if a task has used tokens without a known price. */
export function sumCosts(
  tasks: readonly Pick<TaskRecord, 'costUsd' | 'inputTokens' | 'outputTokens'>[],
): number | undefined {
  return addCosts(tasks.map((task) => task.costUsd ?? (totalTokens(task) === 0 ? 0 : undefined)))
}

/** Converts an open review. */
export function toPendingReview(review: ReviewRecord): PendingReview {
  const { reviewId, runId, request, openedAt, expiresAt } = review
  const { taskDescription, taskOutput, timing, prompt, timeoutMs, onTimeout } = request
  const { requiredRole, taskName, agentRole, attempt, toolName, toolCallId, toolInput } = request
  const { kind, answerSchema, waitsFor } = request
  return {
    reviewId,
    kind,
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
    ...(answerSchema === undefined ? {} : { answerSchema }),
    ...(waitsFor === undefined ? {} : { waitsFor }),
    ...toUnreadable(review),
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
    ...toUnreadable(task),
  }
}

/** Returns the capabilities of the server, including those shared with peers. */
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
    ensembles: ensembles.map(({ name, description, plan, tasks, inputs }) => ({
      name,
      description,
      workflow: plan.workflow,
      variables: [...inputVariables(tasks)],
      ...(inputs === undefined ? {} : { inputs: [...inputs] }),
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
    tools: [
      ...new Set(listWorkingTasks(task).flatMap(({ tools }) => tools.map(({ name }) => name))),
    ],
    variables: [...taskVariables(task)],
  }
}

function formatInstant(instant: number): string {
  return new Date(instant).toISOString()
}
