/** Everything that is wrong with the definition of an ensemble, all of it at once. */
import { TuttiError } from '@tutti/core'

import { findBudgetProblems } from './budget.ts'
import { findDelegationProblems } from './hierarchy/limits.ts'
import { modelOfTask } from './model/model-of-task.ts'
import { findPlanProblems } from './plan.ts'

import type { EnsembleDefinition } from './ensemble.ts'
import type { Workflow } from '@tutti/protocol'

/**
 * Checks a definition.
 *
 * @throws {TuttiError} CONFIG_INVALID or CIRCULAR_DEPENDENCY, naming every problem.
 */
export function assertEnsemble(definition: EnsembleDefinition, workflow: Workflow): void {
  const planProblems = findPlanProblems(definition.tasks, workflow)
  const messages = [
    ...planProblems.map(({ message }) => message),
    ...findSettingProblems(definition),
    ...findModelProblems(definition, workflow),
    ...findBudgetProblems(definition.budget),
    ...findDelegationProblems(
      definition.delegation,
      definition.tasks.map(({ agent }) => agent.role),
    ),
  ]
  if (messages.length === 0) return
  const [first] = planProblems
  const isCycleAlone = messages.length === 1 && first?.code === 'CIRCULAR_DEPENDENCY'
  const text = isCycleAlone
    ? first.message
    : `Cannot make ensemble "${definition.name}": ${messages.join('; ')}`
  throw new TuttiError(first?.code ?? 'CONFIG_INVALID', text, { details: { problems: messages } })
}

function findSettingProblems(definition: EnsembleDefinition): readonly string[] {
  const {
    maxConcurrentTasks = 1,
    maxConcurrentToolCalls = 1,
    managerMaxIterations = 1,
  } = definition
  const { modelRetries = 0 } = definition
  const bounds = { maxConcurrentTasks, maxConcurrentToolCalls, managerMaxIterations }
  const problems = definition.name.trim() === '' ? ['name must not be blank'] : []
  for (const [bound, value] of Object.entries(bounds)) {
    if (!Number.isInteger(value) || value < 1) {
      problems.push(`${bound} must be an integer >= 1, got ${value}`)
    }
  }
  if (!Number.isInteger(modelRetries) || modelRetries < 0) {
    problems.push(`modelRetries must be an integer >= 0, got ${modelRetries}`)
  }
  return problems
}

function findModelProblems(definition: EnsembleDefinition, workflow: Workflow): readonly string[] {
  const { tasks, model, managerModel } = definition
  const problems = tasks
    .filter((task) => task.handler === undefined && modelOfTask(task, definition) === undefined)
    .map(
      ({ name }) => `task "${name}" has no model: give one to it, to its agent or to the ensemble`,
    )
  if (workflow === 'HIERARCHICAL' && (managerModel ?? model) === undefined) {
    problems.push('the manager has no model: give one to the ensemble, or a managerModel')
  }
  return problems
}
