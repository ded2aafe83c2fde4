/** Tells those in this process who listen; nobody else writes to an embedded store. */
import type { Notice } from '../ports/run-storage.ts'

/** Where notices go. */
export class NoticeBoard {
  readonly #listeners = new Set<{ readonly listener: (notice: Notice) => void }>()

  /** Adds a listener, until the returned function is called. */
  listen(listener: (notice: Notice) => void): () => void {
    const entry = { listener }
    this.#listeners.add(entry)
    return () => {
      this.#listeners.delete(entry)
    }
  }

  /**
   * Tells of what was committed, after the statement that did it. What a listener throws is dropped: the
   * write that it was told of is kept, and the others are to hear of it too.
   */
  tell(notices: readonly Notice[]): void {
    if (notices.length === 0 || this.#listeners.size === 0) return
    queueMicrotask(() => {
      for (const notice of notices) this.#tellOf(notice)
    })
  }

  /** Tells nobody any more. */
  close(): void {
    this.#listeners.clear()
  }

  #tellOf(notice: Notice): void {
    for (const { listener } of this.#listeners) {
      try {
        listener(notice)
      } catch {
        // Whoever listens looks after its own errors.
      }
    }
  }
}
