/**
 * The journal port: where the engine writes what happens. A durable journal puts it in a store
 * (`@tutti/runs`); without one, a run in process only tells its listener.
 */
import type { RunStep } from './run-step.ts'
import type { RunEvent } from '@tutti/protocol'

/** Takes the ordered events of one run and the steps that it need not repeat. */
export interface RunJournal {
  /**
   * Takes the next event, and the step that it tells of. Returns at once and never throws. Both become
   * durable in one piece, after all that was taken before.
   */
  emit(event: RunEvent, step?: RunStep): void
  /**
   * Takes the next step, and the event that tells of it. Resolves when both, and all that was taken
   * before, are durable; the engine goes no further before. Rejects when this run may write nothing
   * more.
   */
  commit(step: RunStep, event?: RunEvent): Promise<void>
}

/**
 * A journal that keeps nothing: it calls `onEvent`, whose errors go to `onListenerError`, also those
 * of a listener that is an async function.
 */
export function listenerJournal(
  onEvent: (event: RunEvent) => void,
  onListenerError: (error: unknown) => void,
): RunJournal {
  const emit = (event: RunEvent): void => {
    try {
      const told: unknown = onEvent(event)
      if (told instanceof Promise) told.catch(onListenerError)
    } catch (error) {
      onListenerError(error)
    }
  }
  return {
    emit,
    commit(_, event) {
      if (event !== undefined) emit(event)
      return Promise.resolve()
    },
  }
}
