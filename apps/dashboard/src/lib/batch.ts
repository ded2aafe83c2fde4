/**
 * Collects items and delivers them at most once per frame. The next batch follows when the page has
 * rendered the previous one and is idle, after a pause as long as that took, so that the page stays
 * responsive under thousands of items.
 */

/** Interval of deliveries to a hidden page, in milliseconds. */
const HIDDEN_MS = 500

/** Maximum pause between batches, in milliseconds. */
const MAX_PAUSE_MS = 160

/** Maximum number of items per batch, which a page processes within a frame or two. */
const MAX_ITEMS = 1_500

/** Maximum time to wait for an idle page, in milliseconds: slow machines may never be idle. */
const MAX_BUSY_MS = 80

/** Collects items and passes those of each frame to `give`; `stop` drops the rest. */
export interface Batch<T> {
  add(item: T): void
  stop(): void
}

export function createBatch<T>(give: (items: readonly T[]) => void): Batch<T> {
  let items: T[] = []
  let cancel: (() => void) | undefined
  let pauseUntil = 0
  const flush = (): void => {
    const due = items.splice(0, MAX_ITEMS)
    const startedAt = performance.now()
    give(due)
    // Rendering continues piecewise after `give`.
    cancel = callWhenIdle(() => {
      cancel = undefined
      const now = performance.now()
      pauseUntil = now + Math.min(MAX_PAUSE_MS, now - startedAt)
      if (items.length > 0) flushInTime()
    })
  }
  const flushInTime = (): void => {
    const left = pauseUntil - performance.now()
    if (left <= 0) {
      cancel = callInNextFrame(flush)
      return
    }
    const timer = setTimeout(() => {
      cancel = callInNextFrame(flush)
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

/** Calls back when the page is idle. Browsers without `requestIdleCallback` use a timeout. */
function callWhenIdle(callback: () => void): () => void {
  if (typeof requestIdleCallback === 'undefined') {
    const timer = setTimeout(callback)
    return () => clearTimeout(timer)
  }
  const idle = requestIdleCallback(callback, { timeout: MAX_BUSY_MS })
  return () => cancelIdleCallback(idle)
}

/** Calls back in the next frame, or after `HIDDEN_MS` in a hidden page, which has no frames. */
function callInNextFrame(callback: () => void): () => void {
  if (document.hidden) {
    const timer = setTimeout(callback, HIDDEN_MS)
    return () => clearTimeout(timer)
  }
  const frame = requestAnimationFrame(() => {
    clearTimeout(timer)
    callback()
  })
  // The page may become hidden before the frame.
  const timer = setTimeout(() => {
    cancelAnimationFrame(frame)
    callback()
  }, HIDDEN_MS)
  return () => {
    cancelAnimationFrame(frame)
    clearTimeout(timer)
  }
}
