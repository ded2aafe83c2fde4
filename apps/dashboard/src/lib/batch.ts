/** Gathers what comes one by one and hands it on once a frame: a screen shows no more than that. */

/** How often a page that nobody sees is brought up to date. */
const HIDDEN_MS = 500

/** Takes items and, in each frame in which some came, gives them to `give`; `stop` drops the rest. */
export interface Batch<T> {
  add(item: T): void
  stop(): void
}

/** Makes a batch. */
export function batched<T>(give: (items: readonly T[]) => void): Batch<T> {
  let items: T[] = []
  let cancel: (() => void) | undefined
  const flush = (): void => {
    cancel = undefined
    const due = items
    items = []
    give(due)
  }
  return {
    add(item) {
      items.push(item)
      cancel ??= nextFrame(flush)
    },
    stop() {
      cancel?.()
      items = []
    },
  }
}

/** Frames stand still while a page is hidden. */
function nextFrame(callback: () => void): () => void {
  if (document.hidden) {
    const timer = setTimeout(callback, HIDDEN_MS)
    return () => clearTimeout(timer)
  }
  const frame = requestAnimationFrame(() => {
    clearTimeout(timer)
    callback()
  })
  // The page may be hidden before the frame comes.
  const timer = setTimeout(() => {
    cancelAnimationFrame(frame)
    callback()
  }, HIDDEN_MS)
  return () => {
    cancelAnimationFrame(frame)
    clearTimeout(timer)
  }
}
