/** What a user writes: tasks that belong together, checked when they are put together. */
import { TuttiError } from '@tutti/core'

import { findPlanProblems, inferWorkflow, planTasks, type Plan, type Workflow } from './plan.ts'
import { runEnsemble, type RunOptions, type RunResult } from './run-ensemble.ts'
import { modelOfTask } from './model/model-of-task.ts'

import type { ChatModel } from './model/chat-model.ts'
import type { Inputs } from './inputs.ts'
import type { ErrorStrategy } from './next.ts'
import type { Task } from './task.ts'

/** Tasks running at the same time when nothing else is said: more than most graphs are wide. */
const DEFAULT_MAX_CONCURRENT_TASKS = 16

/** Tool calls of one run at the same time when nothing else is said. */
const DEFAULT_MAX_CONCURRENT_TOOL_CALLS = 16

/** Tasks, the model they use, and how they follow one another. Plain readonly data. */
export interface Ensemble {
  readonly name: string
  readonly description: string
  readonly tasks: readonly Task[]
  /** Model of every task and agent that names none. */
  readonly model?: ChatModel
  /** The workflow its author asked for, if any; the one it has is in `plan`. */
  readonly workflow?: Workflow
  readonly plan: Plan
  readonly errorStrategy: ErrorStrategy
  readonly maxConcurrentTasks: number
  /** Tool calls of all tasks of a run at the same time, at most. */
  readonly maxConcurrentToolCalls: number
  /** Longest tool output a model is given, in characters; negative is no limit. */
  readonly maxToolOutputLength: number
  /**
   * Runs the tasks in this process, with no server. A task that fails is a result, not a throw.
   *
   * @throws {TuttiError} INPUT_MISSING, naming every template variable without a value, before
   * anything runs.
   */
  run(inputs?: Inputs, options?: RunOptions): Promise<RunResult>
}

/** What the author of an ensemble writes. */
export interface EnsembleDefinition {
  readonly name: string
  /** @default '' */
  readonly description?: string
  readonly tasks: readonly Task[]
  readonly model?: ChatModel
  /** @default PARALLEL when a task has context, else SEQUENTIAL */
  readonly workflow?: Workflow
  /** What the failure of a task means for the others. @default FAIL_FAST */
  readonly errorStrategy?: ErrorStrategy
  /** At least 1; matters in PARALLEL. @default 16 */
  readonly maxConcurrentTasks?: number
  /** Tool calls of all tasks of a run at the same time, at least 1. @default 16 */
  readonly maxConcurrentToolCalls?: number
  /** Longest tool output a model is given, in characters; negative is no limit. @default -1 */
  readonly maxToolOutputLength?: number
}

/**
 * Makes an ensemble. An ensemble is a definition too: `ensemble({ ...trip, model })` is a copy with a
 * change, checked again.
 *
 * @throws {TuttiError} CONFIG_INVALID or CIRCULAR_DEPENDENCY, naming every problem.
 */
export function ensemble(definition: EnsembleDefinition): Ensemble {
  const { name, model } = definition
  const tasks = [...definition.tasks]
  const workflow = definition.workflow ?? inferWorkflow(tasks)
  assertEnsemble(definition, workflow)
  const made: Ensemble = {
    name,
    description: definition.description ?? '',
    tasks,
    ...(model === undefined ? {} : { model }),
    ...(definition.workflow === undefined ? {} : { workflow }),
    plan: planTasks(tasks, workflow),
    errorStrategy: definition.errorStrategy ?? 'FAIL_FAST',
    maxConcurrentTasks: definition.maxConcurrentTasks ?? DEFAULT_MAX_CONCURRENT_TASKS,
    maxConcurrentToolCalls: definition.maxConcurrentToolCalls ?? DEFAULT_MAX_CONCURRENT_TOOL_CALLS,
    maxToolOutputLength: definition.maxToolOutputLength ?? -1,
    run: (inputs = {}, options = {}) => runEnsemble(made, inputs, options),
  }
  return made
}

function assertEnsemble(definition: EnsembleDefinition, workflow: Workflow): void {
  const { name, tasks, maxConcurrentTasks = 1, maxConcurrentToolCalls = 1 } = definition
  const problems = [...findPlanProblems(tasks, workflow)]
  const invalid = (message: string): void => {
    problems.push({ code: 'CONFIG_INVALID', message })
  }
  if (name.trim() === '') invalid('name must not be blank')
  for (const [bound, value] of Object.entries({ maxConcurrentTasks, maxConcurrentToolCalls })) {
    if (!Number.isInteger(value) || value < 1) {
      invalid(`${bound} must be an integer >= 1, got ${value}`)
    }
  }
  for (const task of tasks) {
    if (modelOfTask(task, definition) === undefined) {
      invalid(`task "${task.name}" has no model: give one to it, to its agent or to the ensemble`)
    }
  }
  const [first] = problems
  if (first === undefined) return
  const messages = problems.map(({ message }) => message)
  const text =
    problems.length === 1 && first.code === 'CIRCULAR_DEPENDENCY'
      ? first.message
      : `Cannot make ensemble "${name}": ${messages.join('; ')}`
  throw new TuttiError(first.code, text, { details: { problems: messages } })
}
