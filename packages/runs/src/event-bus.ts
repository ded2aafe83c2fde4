/** Tells readers in this process of events, after they are durable. */
import type { LoggedRunEvent } from '@tutti/protocol'

/** Told of the newest events of one run, in order. Must return at once. */
export type EventListener = (events: readonly LoggedRunEvent[]) => void

/** Listeners by run, and listeners of every run. */
export class EventBus {
  readonly #byRun = new Map<string, Set<EventListener>>()
  readonly #all = new Set<EventListener>()
  readonly #onListenerError: (error: unknown) => void

  constructor(onListenerError: (error: unknown) => void) {
    this.#onListenerError = onListenerError
  }

  /** Tells the listeners of `runId`. What a listener throws reaches nobody else. */
  publish(runId: string, events: readonly LoggedRunEvent[]): void {
    for (const listener of [...(this.#byRun.get(runId) ?? []), ...this.#all]) {
      try {
        listener(events)
      } catch (error) {
        this.#onListenerError(error)
      }
    }
  }

  /** Listens to one run until the returned function is called. */
  listen(runId: string, listener: EventListener): () => void {
    const listeners = this.#byRun.get(runId) ?? new Set()
    this.#byRun.set(runId, listeners.add(listener))
    return () => {
      listeners.delete(listener)
      if (listeners.size === 0 && this.#byRun.get(runId) === listeners) this.#byRun.delete(runId)
    }
  }

  /** Listens to every run until the returned function is called. */
  listenToAll(listener: EventListener): () => void {
    this.#all.add(listener)
    return () => {
      this.#all.delete(listener)
    }
  }
}
