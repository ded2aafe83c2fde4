/** Reads tasks: the run of one, and as much of its log as the task is made of. */
import { eventPages } from '@tutti/runs'
import { A2aError } from './a2a-error.ts'
import { isTaskOf } from './agent.ts'
import { firstView, VIEW_EVENTS, viewAfter, type TaskView } from './task-view.ts'
import { factsOf, type TaskFacts } from './to-task.ts'
import { USAGE_EVENTS } from './usage.ts'

import type { Asker } from './asker.ts'
import type { RunRecord } from '@tutti/runs'

/** A task as it stands. */
export interface LoadedTask {
  readonly run: RunRecord
  readonly facts: TaskFacts
  readonly view: TaskView
}

/**
 * The run that is the task of that id.
 *
 * @throws {A2aError} TASK_NOT_FOUND when there is none, or none of this agent: callers are not told which.
 */
export async function findTaskRun(
  { options: { runs }, agent }: Pick<Asker, 'options' | 'agent'>,
  id: string,
): Promise<RunRecord> {
  const run = await runs.record(id)
  if (run !== undefined && isTaskOf(agent, run)) return run
  throw new A2aError('TASK_NOT_FOUND', `Task not found: there is no task "${id}"`)
}

/**
 * The task of that id.
 *
 * @throws {A2aError} TASK_NOT_FOUND.
 */
export async function loadTask(
  asker: Pick<Asker, 'options' | 'agent'>,
  id: string,
): Promise<LoadedTask> {
  return taskOf(asker, await findTaskRun(asker, id))
}

/** The task that a run is, up to the newest event of its log; what it has used only where that is wanted. */
export async function taskOf(
  { options: { runs } }: Pick<Asker, 'options'>,
  run: RunRecord,
  { usage = true }: { readonly usage?: boolean } = {},
): Promise<LoadedTask> {
  const { runId } = run
  const types = [...VIEW_EVENTS, ...(usage ? USAGE_EVENTS : [])]
  let view = firstView(run)
  for await (const events of eventPages(runs, { runId, from: view.nextSeq, types })) {
    for (const event of events) view = viewAfter(view, event)
  }
  return { run, facts: factsOf(run), view }
}
