/**
 * Gathers what comes one by one and hands it on once a frame: a screen shows no more than that. A page is
 * given more only when it has drawn what it was given and is free again, and is left as long a pause as that
 * took, so that it can answer the reader also while thousands of things come.
 */

/** How often a page that nobody sees is brought up to date. */
const HIDDEN_MS = 500

/** Longest pause, however long the page took: what is shown should not be old. */
const MAX_PAUSE_MS = 160

/** So many are taken in within a frame or two; of more, the rest comes after a pause. */
const MOST = 1_500

/** A page that is never free, as on a slow machine, is given more all the same. */
const MAX_BUSY_MS = 80

/** Takes items and, in each frame in which some came, gives them to `give`; `stop` drops the rest. */
export interface Batch<T> {
  add(item: T): void
  stop(): void
}

/** Makes a batch. */
export function batched<T>(give: (items: readonly T[]) => void): Batch<T> {
  let items: T[] = []
  let cancel: (() => void) | undefined
  let pauseUntil = 0
  const flush = (): void => {
    const due = items.splice(0, MOST)
    const startedAt = performance.now()
    give(due)
    // Drawing goes on after `give`, piece by piece.
    cancel = whenFree(() => {
      cancel = undefined
      const now = performance.now()
      pauseUntil = now + Math.min(MAX_PAUSE_MS, now - startedAt)
      if (items.length > 0) flushInTime()
    })
  }
  const flushInTime = (): void => {
    const left = pauseUntil - performance.now()
    if (left <= 0) {
      cancel = nextFrame(flush)
      return
    }
    const timer = setTimeout(() => {
      cancel = nextFrame(flush)
    }, left)
    cancel = () => clearTimeout(timer)
  }
  return {
    add(item) {
      items.push(item)
      if (cancel === undefined) flushInTime()
    },
    stop() {
      cancel?.()
      items = []
    },
  }
}

/** When the page has nothing else to do; browsers that cannot tell wait for what is due already. */
function whenFree(callback: () => void): () => void {
  if (typeof requestIdleCallback === 'undefined') {
    const timer = setTimeout(callback)
    return () => clearTimeout(timer)
  }
  const idle = requestIdleCallback(callback, { timeout: MAX_BUSY_MS })
  return () => cancelIdleCallback(idle)
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
