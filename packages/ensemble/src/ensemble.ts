/** Ensembles: checked definitions with methods to run them. */
import { createEnsembleAgent, type AgentRunOptions } from './adapters/ensemble-agent.ts'
import { createEnsembleTool, type EnsembleToolSettings } from './adapters/ensemble-tool.ts'
import { task } from './definition/define-task.ts'
import { resolveEnsemble } from './definition/resolve-ensemble.ts'
import { executeRun, startRun } from './run/start-run.ts'

import type { EnsembleDefinition, ResolvedEnsemble } from './definition/ensemble-definition.ts'
import type { Inputs } from './definition/inputs.ts'
import type { Task } from './definition/task.ts'
import type { ChatModel } from './model/chat-model.ts'
import type { RunHandle } from './run/run-handle.ts'
import type { RunOptions } from './run/run-options.ts'
import type { RunResult } from './run/run-result.ts'
import type { LocalAgent } from '@tutti/agent-call/internal'
import type { TypedTool } from '@tutti/core'

/** Tasks, their model and their order, with methods to run them. Readonly. `Output` is the type of the last task's output. */
export interface Ensemble<Output = unknown> extends ResolvedEnsemble<Output> {
  /**
   * Runs the tasks in this process, without a server. A failed task is part of the result and does not throw.
   *
   * @throws {TuttiError} BAD_REQUEST, naming every input that nothing reads; INPUT_MISSING, naming every template variable
   * without a value; INPUT_TOO_LARGE if the inputs or a rendered text exceed a limit; or CONFIG_INVALID if a task has no
   * model or the options do not match the ensemble.
   * All are thrown before anything runs.
   */
  run(inputs?: Inputs, options?: RunOptions): Promise<RunResult>
  /**
   * Starts a run that can be steered through the returned handle: cancel it, switch its models, add
   * directives, and decide its reviews.
   *
   * @throws {TuttiError} the same as {@link run}.
   */
  start(inputs?: Inputs, options?: RunOptions): RunHandle
  /**
   * Returns this ensemble as an agent of this process; each turn is a run. The input is an object of the
   * template variables, or a text if there is exactly one variable.
   */
  asAgent(options?: AgentRunOptions): LocalAgent
  /**
   * Returns this ensemble as a tool, whose input is an object of the template variables. A call by an agent or a handler of a
   * run adds a task with this ensemble to that run, with one log, one budget and the same reviewers. Any other call is a run,
   * which inherits the cancellation, the budget and the trace of its caller.
   *
   * @throws {TypeError} naming every invalid setting; {TuttiError} CONFIG_INVALID if the ensemble cannot be a task.
   */
  asTool(settings?: EnsembleToolSettings): TypedTool<Inputs>
}

/** Type of the last task's output; that of a manager is text. */
type LastOutput<Tasks extends readonly Task[]> = Tasks extends readonly [
  ...Task[],
  Task<infer Output>,
]
  ? Output
  : unknown

/**
 * Makes an ensemble. An ensemble is also a definition: `ensemble({ ...trip, model })` is a changed copy,
 * checked again.
 *
 * @throws {TuttiError} CONFIG_INVALID or CIRCULAR_DEPENDENCY, naming every problem.
 */
export function ensemble(
  definition: EnsembleDefinition & { readonly workflow: 'HIERARCHICAL' },
): Ensemble<string>
export function ensemble<const Tasks extends readonly Task[]>(
  definition: EnsembleDefinition<Tasks>,
): Ensemble<LastOutput<Tasks>>
export function ensemble<const Tasks extends readonly Task[]>(
  definition: EnsembleDefinition<Tasks>,
): Ensemble<LastOutput<Tasks>> {
  // NOTE: the last task has the reader and the type of the output.
  const resolved = resolveEnsemble(definition) as ResolvedEnsemble<LastOutput<Tasks>>
  const made: Ensemble<LastOutput<Tasks>> = {
    ...resolved,
    run: (inputs = {}, options = {}) => executeRun(made, inputs, options),
    start: (inputs = {}, options = {}) => startRun(made, inputs, { decidable: true, ...options }),
    asAgent: (options = {}) => createEnsembleAgent(made, options),
    asTool: (settings = {}) => createEnsembleTool(made, settings),
  }
  return made
}

/** Options of a run, and the values of its template variables. */
export interface RunOnceOptions extends RunOptions {
  readonly inputs?: Inputs
}

/**
 * Runs tasks with a model, such as `run(model, 'Summarize {text}', { inputs: { text } })`. A text is the
 * description of a task.
 *
 * @throws {TuttiError} the same as `ensemble` and `Ensemble.run`.
 */
export async function run(
  model: ChatModel,
  work: string | Task | readonly (string | Task)[],
  { inputs = {}, ...options }: RunOnceOptions = {},
): Promise<RunResult> {
  const list = isList(work) ? work : [work]
  const tasks = list.map((item) => (typeof item === 'string' ? task({ description: item }) : item))
  return ensemble({ name: 'run', tasks, model }).run(inputs, options)
}

function isList(
  work: string | Task | readonly (string | Task)[],
): work is readonly (string | Task)[] {
  return Array.isArray(work)
}
