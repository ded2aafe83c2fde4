/** Ensembles: a definition that is checked when it is made, with the ways to run it. */
import { createEnsembleAgent, type AgentRunOptions } from './adapters/ensemble-agent.ts'
import { createEnsembleTool, type EnsembleToolSettings } from './adapters/ensemble-tool.ts'
import { task } from './definition/define-task.ts'
import { resolveEnsemble } from './definition/resolve-ensemble.ts'
import { startRun } from './run/start-run.ts'

import type { EnsembleDefinition, ResolvedEnsemble } from './definition/ensemble-definition.ts'
import type { Inputs } from './definition/inputs.ts'
import type { Task } from './definition/task.ts'
import type { ChatModel } from './model/chat-model.ts'
import type { RunHandle } from './run/run-handle.ts'
import type { RunOptions } from './run/run-options.ts'
import type { RunResult } from './run/run-result.ts'
import type { LocalAgent } from '@tutti/agent-call'
import type { TypedTool } from '@tutti/core'

/** Tasks, the model they use, and how they follow one another, with the ways to run them. Readonly. */
export interface Ensemble extends ResolvedEnsemble {
  /**
   * Runs the tasks in this process, with no server. A task that fails is a result, not a throw.
   *
   * @throws {TuttiError} INPUT_MISSING, naming every template variable without a value,
   * INPUT_TOO_LARGE when the inputs or a text with them are over a limit, or CONFIG_INVALID when the
   * options do not fit the ensemble; all before anything runs.
   */
  run(inputs?: Inputs, options?: RunOptions): Promise<RunResult>
  /**
   * Starts a run that can be steered through the returned handle: cancelled, switched to other models, given
   * directives, and its reviews decided.
   *
   * @throws {TuttiError} as {@link run} does.
   */
  start(inputs?: Inputs, options?: RunOptions): RunHandle
  /**
   * This ensemble as an agent of this process: each turn that it is asked is a run. Its input is an object of the
   * template variables, or a text where there is exactly one.
   */
  asAgent(options?: AgentRunOptions): LocalAgent
  /**
   * This ensemble as a tool, whose input is an object of the template variables. A cancel, the budget and the
   * trace of the caller go down; its events, usage and reviews come up.
   *
   * @throws {TypeError} naming every setting that does not fit.
   */
  asTool(settings?: EnsembleToolSettings): TypedTool<Inputs>
}

/**
 * Makes an ensemble. An ensemble is a definition too: `ensemble({ ...trip, model })` is a copy with a
 * change, checked again.
 *
 * @throws {TuttiError} CONFIG_INVALID or CIRCULAR_DEPENDENCY, naming every problem.
 */
export function ensemble(definition: EnsembleDefinition): Ensemble {
  const made: Ensemble = {
    ...resolveEnsemble(definition),
    run: async (inputs = {}, options = {}) => startRun(made, inputs, options).result,
    start: (inputs = {}, options = {}) => startRun(made, inputs, { decidable: true, ...options }),
    asAgent: (options = {}) => createEnsembleAgent(made, options),
    asTool: (settings = {}) => createEnsembleTool(made, settings),
  }
  return made
}

/** The options of a run, and the values of its template variables. */
export interface RunOnceOptions extends RunOptions {
  readonly inputs?: Inputs
}

/**
 * Runs work on a model, such as `run(model, 'Summarize {text}', { inputs: { text } })`. A text is the description of
 * a task.
 *
 * @throws {TuttiError} as `ensemble` and `Ensemble.run` do.
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
