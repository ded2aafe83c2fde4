/** Reads tasks from their runs and the events of the log. */
import { USAGE_EVENTS } from '@tutti/protocol/internal'
import { eventPages } from '@tutti/runs/internal'

import { A2aError } from './errors.ts'
import { toTaskIdentity, type WireTaskIdentity } from './to-task.ts'
import { TaskView, VIEW_EVENTS } from './view.ts'

import type { A2aCall } from './agent.ts'
import type { RunRecord } from '@tutti/runs/adapter'

/** A task as of the newest event read. Its view takes the next ones. */
export interface LoadedTask {
  readonly run: RunRecord
  readonly identity: WireTaskIdentity
  readonly view: TaskView
}

/**
 * Finds the run of a task.
 *
 * @throws {A2aError} TASK_NOT_FOUND when it does not exist, or belongs to another agent.
 * @throws {TuttiError} FORBIDDEN when the caller may not read it.
 */
export async function findTaskRun(
  { service, agent, call }: Pick<A2aCall, 'service' | 'agent' | 'call'>,
  id: string,
): Promise<RunRecord> {
  const run = await service.find(id, agent.ensembles, call.caller)
  if (run !== undefined) return run
  throw new A2aError('TASK_NOT_FOUND', `Task not found: "${id}"`)
}

/**
 * Reads a task.
 *
 * @throws {A2aError} TASK_NOT_FOUND.
 */
export async function loadTask(
  call: Pick<A2aCall, 'service' | 'agent' | 'call'>,
  id: string,
): Promise<LoadedTask> {
  return readTask(call, await findTaskRun(call, id))
}

/** Reads the task of a run up to the newest event of its log, with its usage unless `usage` is false. */
export async function readTask(
  { service }: Pick<A2aCall, 'service'>,
  run: RunRecord,
  { usage = true }: { readonly usage?: boolean } = {},
): Promise<LoadedTask> {
  const { runId } = run
  const types = [...VIEW_EVENTS, ...(usage ? USAGE_EVENTS : [])]
  const view = new TaskView(run)
  for await (const events of eventPages(service.options.runs, {
    runId,
    from: view.nextSeq,
    types,
  })) {
    for (const event of events) view.take(event)
  }
  return { run, identity: toTaskIdentity(run, service.options.redactor), view }
}
