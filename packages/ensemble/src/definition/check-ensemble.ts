/** Finds all problems in the definition of an ensemble. */
import { TuttiError } from '@tutti/core'
import { findChoiceProblems, findOptionProblems, type OptionNames } from '@tutti/core/internal'
import { ReviewPolicy, Workflow } from '@tutti/protocol/internal'

import { findOnUnfinishedProblems } from './on-unfinished.ts'
import { findGrowthProblems } from './check-growth.ts'
import { findHandoffProblems } from './check-handoffs.ts'
import { findModelPriceProblems } from '../model/prices.ts'
import { findBudgetProblems } from '../usage/budget.ts'
import { findDelegationProblems } from './delegation-limits.ts'
import { findPlanProblems } from './plan.ts'
import { findEnsembleReviewProblems } from './review-settings.ts'
import { findRuleProblems } from './model-rule.ts'

import { isTask, listWorkingTasks, toWorkerRole } from './task.ts'
import {
  ERROR_STRATEGIES,
  type EnsembleDefinition,
  type ResolvedEnsemble,
} from './ensemble-definition.ts'

/** Methods of `Ensemble`; a definition has them if it is a copy of an ensemble. */
type EnsembleMethod = 'run' | 'start' | 'asAgent' | 'asTool'

/** Names of options. A copy of an ensemble also has its computed parts. */
const ENSEMBLE_NAMES = {
  name: true,
  inputs: true,
  model: true,
  fallbackModels: true,
  rateLimit: true,
  onUnfinished: true,
  budget: true,
  delegation: true,
  description: true,
  tasks: true,
  workflow: true,
  errorStrategy: true,
  maxConcurrentTasks: true,
  maxConcurrentToolCalls: true,
  maxToolOutputLength: true,
  modelRetries: true,
  maxRetryAfterMs: true,
  reviewPolicy: true,
  review: true,
  verbose: true,
  captureMode: true,
  toolLogTruncateLength: true,
  managerModel: true,
  modelRules: true,
  managerMaxIterations: true,
  plan: true,
  outputReader: true,
  manager: true,
  run: true,
  start: true,
  asAgent: true,
  asTool: true,
} as const satisfies OptionNames<
  Record<keyof EnsembleDefinition | keyof ResolvedEnsemble | EnsembleMethod, unknown>
>

/**
 * Checks that every task was created with `task()`, which sets the required defaults.
 *
 * @throws {TuttiError} CONFIG_INVALID, naming every task that was not.
 */
export function assertTasks({ name, tasks }: EnsembleDefinition): void {
  const problems = tasks.flatMap((task: unknown, index) =>
    isTask(task) ? [] : [`tasks[${index}] must be created with task()`],
  )
  if (problems.length === 0) return
  throw new TuttiError(
    'CONFIG_INVALID',
    `Cannot create ensemble "${name}": ${problems.join('; ')}`,
    {
      details: { problems },
    },
  )
}

/**
 * Checks the definition of an ensemble.
 *
 * @throws {TuttiError} CONFIG_INVALID or CIRCULAR_DEPENDENCY, naming every problem.
 */
export function assertEnsemble(definition: EnsembleDefinition, workflow: Workflow): void {
  const planProblems = findPlanProblems(definition.tasks, workflow)
  const messages = [
    ...planProblems.map(({ message }) => message),
    ...findSettingProblems(definition),
    ...findGrowthProblems(definition),
    ...findHandoffProblems(definition),
    ...findOwnPriceProblems(definition),
    ...findBudgetProblems(definition.budget),
    ...findOnUnfinishedProblems(definition.onUnfinished),
    ...findEnsembleReviewProblems(definition.review),
    ...findRuleProblems(definition.modelRules),
    ...findDelegationProblems(definition.delegation, definition.tasks.map(toWorkerRole)),
    ...(workflow === 'HIERARCHICAL' ? findUndelegated(definition) : []),
  ]
  if (messages.length === 0) return
  const [first] = planProblems
  const isCycleAlone = messages.length === 1 && first?.code === 'CIRCULAR_DEPENDENCY'
  const text = isCycleAlone
    ? first.message
    : `Cannot create ensemble "${definition.name}": ${messages.join('; ')}`
  throw new TuttiError(first?.code ?? 'CONFIG_INVALID', text, { details: { problems: messages } })
}

function findSettingProblems(definition: EnsembleDefinition): readonly string[] {
  const {
    maxConcurrentTasks = 1,
    maxConcurrentToolCalls = 1,
    managerMaxIterations = 1,
  } = definition
  const { modelRetries = 0, toolLogTruncateLength = 0 } = definition
  const bounds = { maxConcurrentTasks, maxConcurrentToolCalls, managerMaxIterations }
  const problems = [
    ...findOptionProblems(definition, ENSEMBLE_NAMES),
    ...(definition.name.trim() === '' ? ['name must not be blank'] : []),
    // Stores, metrics and addresses hold only well-formed text.
    ...(definition.name.isWellFormed() ? [] : ['name must not contain half of a surrogate pair']),
    ...findChoiceProblems('workflow', definition.workflow, Workflow.enum),
    ...findChoiceProblems('errorStrategy', definition.errorStrategy, ERROR_STRATEGIES),
    ...findChoiceProblems('reviewPolicy', definition.reviewPolicy, ReviewPolicy.enum),
  ]
  for (const [bound, value] of Object.entries(bounds)) {
    if (!Number.isInteger(value) || value < 1) {
      problems.push(`${bound} must be an integer >= 1, got ${value}`)
    }
  }
  if (!Number.isInteger(modelRetries) || modelRetries < 0) {
    problems.push(`modelRetries must be an integer >= 0, got ${modelRetries}`)
  }
  if (!Number.isInteger(toolLogTruncateLength)) {
    problems.push(`toolLogTruncateLength must be an integer, got ${toolLogTruncateLength}`)
  }
  const { maxRetryAfterMs = 0 } = definition
  if (!(maxRetryAfterMs >= 0)) {
    problems.push(`maxRetryAfterMs must be a number >= 0, got ${maxRetryAfterMs}`)
  }
  return problems
}

/** Returns a problem for each task that the manager may not delegate: it would never run. */
function findUndelegated({ tasks, delegation }: EnsembleDefinition): readonly string[] {
  const allowed = delegation?.allowedWorkers
  if (allowed === undefined) return []
  return tasks
    .filter((task) => !allowed.includes(toWorkerRole(task)))
    .map(
      (task) =>
        `task "${task.name}" can never run: delegation.allowedWorkers does not have its role "${toWorkerRole(task)}"`,
    )
}

/** Returns the problems of the prices that models have themselves. */
function findOwnPriceProblems(definition: EnsembleDefinition): readonly string[] {
  const { model, managerModel, fallbackModels = [], tasks } = definition
  const ofTasks = tasks
    .flatMap(listWorkingTasks)
    .flatMap((task) => [task.model, task.agent.model, ...(task.fallbackModels ?? [])])
  const models = new Set([model, managerModel, ...fallbackModels, ...ofTasks])
  return [...models].flatMap((used) => (used === undefined ? [] : findModelPriceProblems(used)))
}
