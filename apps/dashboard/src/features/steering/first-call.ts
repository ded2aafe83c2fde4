/** Pure: the first model call that a switch of the model reached. */
import type { TimedEvent } from './steering-entries.ts'
import type { RunEventOf } from '@tutti/protocol'

/** A model call of a task. */
export interface FirstCall {
  readonly taskName: string
  readonly attempt: number
  readonly iterationIndex: number
  /** The model that was called, as the call names it. */
  readonly model: string
  /** Milliseconds since 1970, at the latest. */
  readonly at: number
}

/**
 * The first call that a switch concerns, among the events after it; undefined when there is none, or another
 * switch came first. A switch counts for every call that begins after it, so that names need not be
 * compared: in logs of earlier versions a switch has the alias of a model, and a call its own name.
 */
export function reachedBy(
  { taskName }: RunEventOf<'model_switched'>,
  later: readonly TimedEvent[],
): FirstCall | undefined {
  /** Tasks that were switched on their own since then. */
  const apart = new Set<string>()
  for (const { event, at } of later) {
    if (event.type === 'model_switched') {
      // A switch of the run goes before those of its tasks; one of a task leaves the others as they are.
      if (event.taskName === undefined || event.taskName === taskName) return undefined
      apart.add(event.taskName)
    }
    if (event.type !== 'llm_iteration_started' || apart.has(event.taskName)) continue
    if (taskName !== undefined && event.taskName !== taskName) continue
    const { attempt, iterationIndex, model } = event
    return { taskName: event.taskName, attempt, iterationIndex, model, at }
  }
  return undefined
}
