/** One-liners: a run of a few tasks without an ensemble to define. */
import { ensemble } from './ensemble.ts'
import { task, type Task } from './definition/task.ts'

import type { Inputs } from './definition/inputs.ts'
import type { ChatModel } from './model/chat-model.ts'
import type { RunOptions } from './run/run-options.ts'
import type { RunResult } from './run/run-result.ts'

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
