/** Tells readers in this process of events, after they are durable. */
import type { LoggedRunEvent } from '@tutti/protocol'

/** Told of the newest events of one run, in order; of none when it is to look at the log. Must return at once. */
export type EventListener = (events: readonly LoggedRunEvent[]) => void

/** Listeners by run, and listeners of every run. */
export class EventBus {
  readonly #byRun = new Map<string, Set<EventListener>>()
  readonly #all = new Set<EventListener>()
  readonly #onListenerError: (error: unknown) => void

  constructor(onListenerError: (error: unknown) => void) {
    this.#onListenerError = onListenerError
  }

  /** Runs that somebody listens to by name. */
  get runIds(): readonly string[] {
    return [...this.#byRun.keys()]
  }

  /** Whether anybody would be told of events of `runId`. */
  hasListeners(runId: string): boolean {
    return this.#all.size > 0 || this.#byRun.has(runId)
  }

  /** Has the listeners of `runId` look at the log again: they are told of no events. */
  nudge(runId: string): void {
    for (const listener of this.#byRun.get(runId) ?? []) this.#tell(listener, [])
  }

  /** Tells the listeners of `runId`. What a listener throws reaches nobody else. */
  publish(runId: string, events: readonly LoggedRunEvent[]): void {
    for (const listener of [...(this.#byRun.get(runId) ?? []), ...this.#all]) {
      this.#tell(listener, events)
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

  #tell(listener: EventListener, events: readonly LoggedRunEvent[]): void {
    try {
      listener(events)
    } catch (error) {
      this.#onListenerError(error)
    }
  }
}
