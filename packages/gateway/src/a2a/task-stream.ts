/**
 * Follows a task: what becomes of it, as updates.
 *
 *   log of the run ─▶ view before, event, view after ─▶ updates
 *
 * F1 A stream begins with the task as it stands, and has every change after that, in order, each once: the
 *    place in the log where the one ends is where the other begins.
 * F2 It ends with the state in which there is nothing to wait for. A subscription waits for the end of the task;
 *    whoever has sent a message is asked back at once, and so waits no longer than for a question.
 * F3 Two streams that begin at the same place give the same.
 */
import { TaskUpdates } from './task-updates.ts'
import { isSettled, isTerminal, viewAfter } from './task-view.ts'
import { toTask, type Showing } from './to-task.ts'

import type { Asker } from './asker.ts'
import type { StreamItem } from './a2a-wire.ts'
import type { LoadedTask } from './load-task.ts'

/** How a task is followed. */
export interface Following {
  readonly showing: Showing
  /** When to stop: at its end, or also at a question. */
  readonly until: 'terminal' | 'settled'
  /** Aborts when nobody reads any more. */
  readonly signal: AbortSignal
}

/** The task and its updates; ends early when nobody reads, and when its run is deleted. */
export async function* taskStream(
  { run, facts, view: first }: LoadedTask,
  { options: { runs } }: Pick<Asker, 'options'>,
  { showing, until, signal }: Following,
): AsyncGenerator<StreamItem> {
  const isOver = until === 'terminal' ? isTerminal : isSettled
  yield { task: toTask(facts, first, showing) }
  if (isOver(first)) return
  const updates = new TaskUpdates(facts, first, showing)
  for await (const events of runs.follow({ runId: run.runId, from: first.nextSeq, signal })) {
    for (const event of events) {
      yield* updates.after(event)
      if (isOver(updates.view)) return
    }
  }
}

/** The task when there is nothing to wait for any more, or nobody waits. */
export async function whenSettled(
  { run, facts, view: first }: LoadedTask,
  { options: { runs }, gone: signal }: Pick<Asker, 'options' | 'gone'>,
): Promise<LoadedTask> {
  let view = first
  if (isSettled(view)) return { run, facts, view }
  for await (const events of runs.follow({ runId: run.runId, from: view.nextSeq, signal })) {
    for (const event of events) {
      view = viewAfter(view, event)
      if (isSettled(view)) return { run, facts, view }
    }
  }
  return { run, facts, view }
}
