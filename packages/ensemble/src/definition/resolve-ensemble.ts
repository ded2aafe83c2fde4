/** Resolves the definition of an ensemble: checks it, fills in its defaults, and plans its tasks. */
import { DEFAULT_MAX_RETRY_AFTER_MS, DEFAULT_MODEL_RETRIES } from '../model/retry-delay.ts'
import { assertEnsemble, assertTasks } from './check-ensemble.ts'
import { DEFAULT_MANAGER_MAX_ITERATIONS, createManagerTask } from './manager.ts'
import { listLastTasks } from './last-tasks.ts'
import { mapNeeds } from './needed-tasks.ts'
import { inferWorkflow, planTasks } from './plan.ts'

import type { EnsembleDefinition, ResolvedEnsemble } from './ensemble-definition.ts'

/** Default maximum number of tasks that run at the same time; most task graphs are narrower. */
const DEFAULT_MAX_CONCURRENT_TASKS = 16

/** Default maximum number of tool calls of one run at the same time. */
const DEFAULT_MAX_CONCURRENT_TOOL_CALLS = 16

/**
 * Default maximum length of a tool's output for a model, in characters: some 25,000 tokens, so that a few outputs fit into
 * the context of a model, and the outputs of one turn into an event.
 */
export const DEFAULT_MAX_TOOL_OUTPUT_LENGTH = 100_000

/** Default maximum length of a tool's output in the log, in characters. */
const DEFAULT_TOOL_LOG_LENGTH = 200

/**
 * Resolves the definition of an ensemble.
 *
 * @throws {TuttiError} CONFIG_INVALID or CIRCULAR_DEPENDENCY, naming every problem.
 */
export function resolveEnsemble(definition: EnsembleDefinition): ResolvedEnsemble {
  const tasks = [...definition.tasks]
  assertTasks(definition)
  const workflow = definition.workflow ?? inferWorkflow(tasks)
  assertEnsemble(definition, workflow)
  const managerMaxIterations = definition.managerMaxIterations ?? DEFAULT_MANAGER_MAX_ITERATIONS
  const managerModel = definition.managerModel ?? definition.model
  const { outputReader: _, ...settings } = { outputReader: undefined, ...definition }
  const outputReader = workflow === 'HIERARCHICAL' ? undefined : tasks.at(-1)?.outputReader
  const bare = { ...planTasks(tasks, workflow), needs: mapNeeds(tasks) }
  const plan = { ...bare, lastTasks: listLastTasks(tasks, bare) }
  return {
    ...settings,
    ...(outputReader === undefined ? {} : { outputReader }),
    description: definition.description ?? '',
    tasks,
    plan,
    managerMaxIterations,
    errorStrategy: definition.errorStrategy ?? 'FAIL_FAST',
    maxConcurrentTasks: definition.maxConcurrentTasks ?? DEFAULT_MAX_CONCURRENT_TASKS,
    maxConcurrentToolCalls: definition.maxConcurrentToolCalls ?? DEFAULT_MAX_CONCURRENT_TOOL_CALLS,
    maxToolOutputLength: definition.maxToolOutputLength ?? DEFAULT_MAX_TOOL_OUTPUT_LENGTH,
    modelRetries: definition.modelRetries ?? DEFAULT_MODEL_RETRIES.maxRetries,
    maxRetryAfterMs: definition.maxRetryAfterMs ?? DEFAULT_MAX_RETRY_AFTER_MS,
    reviewPolicy: definition.reviewPolicy ?? 'NEVER',
    verbose: definition.verbose ?? false,
    toolLogTruncateLength: definition.toolLogTruncateLength ?? DEFAULT_TOOL_LOG_LENGTH,
    ...(workflow === 'HIERARCHICAL'
      ? {
          manager: createManagerTask(tasks, {
            model: managerModel,
            maxIterations: managerMaxIterations,
          }),
        }
      : {}),
  }
}
