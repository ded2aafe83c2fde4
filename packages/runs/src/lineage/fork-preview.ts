/**
 * Describes what a fork would do, by what its parent did.
 *
 * RUNS-E7 A preview creates nothing. Its estimate is the recorded usage of the parent for all that the fork executes.
 */
import type { Ensemble } from '@tutti/ensemble'
import {
  listAllTasks,
  listReviewsOfFork,
  sumStepUsage,
  type RunStep,
} from '@tutti/ensemble/internal'

import { field } from '../domain/field.ts'

import type { ForkSource } from './fork-log.ts'
import { totalTokens } from '@tutti/protocol/internal'

import type { ForkPreview } from '@tutti/protocol'
import type { ForkAction, ForkCallPreview, ForkUsage } from '@tutti/protocol/internal'

/** A fork that could be created. */
export interface PreviewedFork {
  readonly ensemble: Ensemble
  readonly source: ForkSource
  /** Tasks that the fork does not execute, because it has their outputs. */
  readonly given: ReadonlySet<string>
  readonly repeatedCalls: readonly ForkCallPreview[]
}

/** Describes a fork. */
export function previewFork(previewed: PreviewedFork): ForkPreview {
  const { source, given, repeatedCalls } = previewed
  const { fork, copied } = source
  const tasks = listTasks(previewed).map(({ name, delegatedBy }) => {
    const action = toAction(previewed, name)
    const rest = isExecuted(action) ? source.rest.filter((step) => isOfTask(step, name)) : []
    const reused = copied.filter((step) => isOfTask(step, name) && 'attempt' in step)
    return {
      name,
      action,
      ...field('delegatedBy', delegatedBy),
      ...field('reused', reused.length > 0 ? toForkUsage(reused) : undefined),
      ...field('estimate', hasWork(rest, action) ? toForkUsage(rest) : undefined),
    }
  })
  const executed = new Set(tasks.flatMap((task) => (task.estimate === undefined ? [] : task.name)))
  return {
    parentRunId: fork.parent.runId,
    at: fork.parent.at,
    tasks,
    reused: toForkUsage(copied),
    estimate: toForkUsage(
      source.rest.filter((step) => 'taskName' in step && executed.has(step.taskName ?? '')),
    ),
    withoutEstimate: tasks.flatMap(({ name, action, estimate }) =>
      action === 'EXECUTED' && estimate === undefined ? [name] : [],
    ),
    reviews: listReviewsOfFork([...copied, ...fork.steps])
      .filter(({ taskName }) => !given.has(taskName))
      .map(({ reviewId, taskName, timing }) => ({ reviewId, taskName, timing })),
    repeatedCalls: [...repeatedCalls],
    needsAllowSideEffects: repeatedCalls.length > 0,
  }
}

/**
 * Returns the tasks that a fork does not execute, because it has their outputs, with the tasks that they delegated in
 * the parent. An output counts from the attempt that begins after it.
 */
export function listGivenTasks(
  { copied, rest }: Pick<ForkSource, 'copied' | 'rest'>,
  results: Readonly<Record<string, unknown>>,
): ReadonlySet<string> {
  const given = new Set(Object.keys(results))
  for (const step of copied) {
    if (step.kind === 'result_given') given.add(step.taskName)
    else if (step.kind === 'task_failed' || step.kind === 'task_completed') {
      if (!Object.hasOwn(results, step.taskName)) given.delete(step.taskName)
    }
  }
  for (const step of [...copied, ...rest]) {
    if (step.kind === 'delegation_begun' && given.has(step.taskName)) given.add(step.workerTask)
  }
  return given
}

/** Returns the tasks of the plan, then those that were delegated in the parent and would be again. */
function listTasks({
  ensemble,
  source: { copied, rest },
  given,
}: PreviewedFork): readonly { readonly name: string; readonly delegatedBy?: string }[] {
  const planned = listAllTasks(ensemble).map(({ name }) => name)
  const delegated = new Map<string, string>()
  for (const step of [...copied, ...rest]) {
    if (step.kind === 'delegation_begun') delegated.set(step.workerTask, step.taskName)
  }
  return [
    ...planned.map((name) => ({ name, ...field('delegatedBy', delegated.get(name)) })),
    ...[...delegated]
      .filter(([name]) => !planned.includes(name) && !given.has(name))
      .map(([name, delegatedBy]) => ({ name, delegatedBy })),
  ]
}

function toAction({ source: { copied }, given }: PreviewedFork, name: string): ForkAction {
  const own = copied.filter((step) => isOfTask(step, name))
  if (own.some(({ kind }) => kind === 'task_completed')) return 'REUSED'
  const hasFailed = own.some((step) => step.kind === 'task_failed' && !step.willRetry)
  if (hasFailed || own.some(({ kind }) => kind === 'task_skipped')) return 'ENDED'
  if (given.has(name)) return 'GIVEN'
  return own.some((step) => 'attempt' in step) ? 'CONTINUED' : 'EXECUTED'
}

function isExecuted(action: ForkAction): boolean {
  return action === 'CONTINUED' || action === 'EXECUTED'
}

function isOfTask(step: RunStep, name: string): boolean {
  return 'taskName' in step && step.taskName === name
}

/** Whether the parent executed the task after the copied part. A task that only got an output there has no such steps. */
function hasWork(rest: readonly RunStep[], action: ForkAction): boolean {
  return rest.some(
    ({ kind }) => WORK.has(kind) || (kind === 'task_completed' && action === 'CONTINUED'),
  )
}

/** Kinds of the steps that show that a task was executed. */
const WORK: ReadonlySet<RunStep['kind']> = new Set([
  'model_turn',
  'tool_ended',
  'handler_ended',
  'handler_step',
  'handler_step_failed',
  'agent_used',
  'task_failed',
])

function toForkUsage(steps: readonly RunStep[]): ForkUsage {
  const { modelCallCount, toolCallCount, cost, ...tokens } = sumStepUsage(steps)
  return {
    modelCalls: modelCallCount,
    toolCalls: toolCallCount,
    tokens: totalTokens(tokens),
    ...(cost === undefined ? {} : { costUsd: cost.inputCost + cost.outputCost }),
  }
}
