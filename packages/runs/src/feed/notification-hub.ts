/** Tells those in this process who listen to a store. */
import type { StoreNotification } from '../ports/run-storage.ts'

/** Where notices go. */
export class NotificationHub {
  readonly #listeners = new Set<{ readonly listener: (notice: StoreNotification) => void }>()
  readonly #onError: (error: unknown) => void

  /** `onError` is told of what a listener throws; the others hear of the notice all the same. */
  constructor(onError: (error: unknown) => void = () => undefined) {
    this.#onError = onError
  }

  /** Adds a listener, until the returned function is called. */
  listen(listener: (notice: StoreNotification) => void): () => void {
    const entry = { listener }
    this.#listeners.add(entry)
    return () => {
      this.#listeners.delete(entry)
    }
  }

  /** Tells of what was committed, after the caller has gone on. */
  tell(notices: readonly StoreNotification[]): void {
    if (notices.length === 0 || this.#listeners.size === 0) return
    queueMicrotask(() => {
      this.tellNow(notices)
    })
  }

  /** Tells at once. */
  tellNow(notices: readonly StoreNotification[]): void {
    for (const notice of notices) this.#tellOf(notice)
  }

  /** Tells nobody any more. */
  close(): void {
    this.#listeners.clear()
  }

  #tellOf(notice: StoreNotification): void {
    for (const { listener } of this.#listeners) {
      try {
        listener(notice)
      } catch (error) {
        this.#onError(error)
      }
    }
  }
}
