/** Passes notifications of a store to the listeners in this process. */
import type { StoreNotification } from '../../ports/notifications.ts'

/** The listeners of a store. */
export class NotificationHub {
  readonly #listeners = new Set<{ readonly listener: (notification: StoreNotification) => void }>()
  readonly #onError: (error: unknown) => void

  /** `onError` receives the errors of listeners. An error of one listener does not affect the others. */
  constructor(onError: (error: unknown) => void = () => undefined) {
    this.#onError = onError
  }

  /** Adds a listener, until the returned function is called. */
  listen(listener: (notification: StoreNotification) => void): () => void {
    const entry = { listener }
    this.#listeners.add(entry)
    return () => {
      this.#listeners.delete(entry)
    }
  }

  /** Notifies the listeners in a microtask, after the caller has continued. */
  notify(notifications: readonly StoreNotification[]): void {
    if (notifications.length === 0 || this.#listeners.size === 0) return
    queueMicrotask(() => {
      this.notifyNow(notifications)
    })
  }

  /** Notifies the listeners synchronously. */
  notifyNow(notifications: readonly StoreNotification[]): void {
    for (const notification of notifications) this.#notifyEach(notification)
  }

  /** Removes all listeners. */
  close(): void {
    this.#listeners.clear()
  }

  #notifyEach(notification: StoreNotification): void {
    for (const { listener } of this.#listeners) {
      try {
        listener(notification)
      } catch (error) {
        this.#onError(error)
      }
    }
  }
}
