/** Publishes durable events to readers in this process. */
import type { LoggedRunEvent } from '@tutti/protocol'

/** Receives the newest events of one run, in order; an empty list means that it must read the log. Must return at once. */
export type EventListener = (events: readonly LoggedRunEvent[]) => void

/** Listeners by run, and listeners of every run. */
export class EventBus {
  readonly #byRun = new Map<string, Set<EventListener>>()
  readonly #all = new Set<EventListener>()
  readonly #onListenerError: (error: unknown) => void

  constructor(onListenerError: (error: unknown) => void) {
    this.#onListenerError = onListenerError
  }

  /** Runs that have their own listeners. */
  get runIds(): readonly string[] {
    return [...this.#byRun.keys()]
  }

  /** Whether there are listeners of every run. */
  get listensToAll(): boolean {
    return this.#all.size > 0
  }

  /** Whether a listener would receive events of `runId`. */
  hasListeners(runId: string): boolean {
    return this.#all.size > 0 || this.#byRun.has(runId)
  }

  /** Makes the listeners of `runId` read the log again, by calling them with an empty list. */
  nudge(runId: string): void {
    for (const listener of this.#byRun.get(runId) ?? []) this.#call(listener, [])
  }

  /** Calls the listeners of `runId`. An error of one listener does not affect the others. */
  publish(runId: string, events: readonly LoggedRunEvent[]): void {
    for (const listener of [...(this.#byRun.get(runId) ?? []), ...this.#all]) {
      this.#call(listener, events)
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

  #call(listener: EventListener, events: readonly LoggedRunEvent[]): void {
    try {
      listener(events)
    } catch (error) {
      this.#onListenerError(error)
    }
  }
}
