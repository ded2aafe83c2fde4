/**
 * The journal port: where the engine writes what happens. A durable journal puts it in a store
 * (`@tutti/runs`); without one, a run in process only calls its listener.
 */
import type { RunStep } from './run-step.ts'
import type { RunEvent } from '@tutti/protocol'

/** Takes the ordered events of one run and the steps that it need not repeat. */
export interface RunJournal {
  /**
   * Takes the next event and its step. Returns at once and never throws. Both become
   * durable atomically, after everything that was taken before.
   */
  emit(event: RunEvent, step?: RunStep): void
  /**
   * Takes the next step and its event. Resolves when both, and everything that was taken
   * before, are durable; the engine waits for that. Rejects when this run may no longer
   * write.
   */
  commit(step: RunStep, event?: RunEvent): Promise<void>
}

/**
 * Creates a journal that stores nothing: it calls `onEvent`, whose errors go to `onListenerError`, also those
 * of a listener that is an async function.
 */
export function listenerJournal(
  onEvent: (event: RunEvent) => void,
  onListenerError: (error: unknown) => void,
): RunJournal {
  const emit = (event: RunEvent): void => {
    try {
      const returned: unknown = onEvent(event)
      if (returned instanceof Promise) returned.catch(onListenerError)
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
