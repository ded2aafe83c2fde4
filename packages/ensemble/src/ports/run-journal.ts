/**
 * The journal port: where the engine writes what happens. A durable journal puts it in a store
 * (`@tutti/runs`); without one, a run in process only tells its listener.
 */
import type { RunEvent } from '@tutti/protocol'

/** Takes the ordered events of one run and makes checkpoints durable. */
export interface RunJournal {
  /** Takes the next event. Returns at once and never throws. */
  emit(event: RunEvent): void
  /**
   * Takes the next event together with the state it leaves. Resolves when both are durable, in one
   * piece; the engine goes no further before. Rejects when this run may write nothing more.
   */
  commit(event: RunEvent, checkpoint: TaskCheckpoint): Promise<void>
}

/** What must survive of a finished task so that it is never run again. */
export interface TaskCheckpoint {
  readonly taskName: string
  readonly attempt: number
  /** The text that later tasks are given. */
  readonly output: string
  /** Tokens read and written, -1 when a provider did not say. */
  readonly inputTokens: number
  readonly outputTokens: number
  readonly toolCallCount: number
  readonly durationMs: number
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
    commit(event) {
      emit(event)
      return Promise.resolve()
    },
  }
}
