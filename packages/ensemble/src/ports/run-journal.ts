/**
 * The journal port: the engine writes the events and steps of a run to it. A durable journal stores them
 * (`@tutti/runs`); without one, a run only calls its listener.
 */
import type { RunStep } from './run-step.ts'
import type { RunEvent } from '@tutti/protocol'

/** Receives the ordered events and the steps of one run. */
export interface RunJournal {
  /**
   * Receives the next event and its step. Returns at once and never throws. Both become durable atomically,
   * after everything that was received before.
   */
  emit(event: RunEvent, step?: RunStep): void
  /**
   * Receives the next step and its event. Resolves when both, and everything that was received before, are
   * durable. Rejects when this process may no longer write to the run.
   */
  commit(step: RunStep, event?: RunEvent): Promise<void>
}

/**
 * Creates a journal that stores nothing and calls `onEvent`. Errors of `onEvent` go to `onListenerError`,
 * also those of an async listener.
 */
export function createListenerJournal(
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
