/** Measures the smoothness of a page from inside during an action. */
import type { Page } from 'playwright-core'

/** Smoothness of a page during an action, in milliseconds. */
export interface Smoothness {
  /** Duration of the action. */
  readonly ms: number
  /** Time between frames. */
  readonly frames: { readonly median: number; readonly p95: number; readonly max: number }
  /** Tasks of more than 50 ms, during which the page does not respond. */
  readonly longTasks: {
    readonly count: number
    readonly totalMs: number
    readonly maxMs: number
  }
}

/** Observes frames and long tasks of the page until `stopWatching`. */
const WATCH = `{
  const watched = { frames: [], tasks: [], isOver: false }
  globalThis.watched = watched
  watched.observer = new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) watched.tasks.push(duration)
  })
  watched.observer.observe({ type: 'longtask' })
  let last = performance.now()
  const frame = (now) => {
    watched.frames.push(now - last)
    last = now
    if (!watched.isOver) requestAnimationFrame(frame)
  }
  requestAnimationFrame(frame)
}`

const STOP = `watched.isOver = true
watched.observer.disconnect();
({ frames: watched.frames, tasks: watched.tasks })`

/** Result of the script above. */
interface Watched {
  readonly frames: readonly number[]
  readonly tasks: readonly number[]
}

/** Performs an action on a page and measures its smoothness. */
export async function smoothness(page: Page, act: () => Promise<void>): Promise<Smoothness> {
  await page.evaluate(WATCH)
  const startedAt = performance.now()
  await act()
  const ms = performance.now() - startedAt
  const { frames, tasks } = await page.evaluate<Watched>(STOP)
  const sorted = frames.toSorted((left, right) => left - right)
  const at = (share: number): number => sorted[Math.floor((sorted.length - 1) * share)] ?? 0
  return {
    ms,
    frames: { median: at(0.5), p95: at(0.95), max: at(1) },
    longTasks: {
      count: tasks.length,
      totalMs: tasks.reduce((sum, task) => sum + task, 0),
      maxMs: Math.max(0, ...tasks),
    },
  }
}

/** Returns the script heap of the page after a garbage collection, in MiB. */
export async function heapMiB(page: Page): Promise<number> {
  const session = await page.context().newCDPSession(page)
  await session.send('HeapProfiler.collectGarbage')
  const { usedSize } = await session.send('Runtime.getHeapUsage')
  await session.detach()
  return usedSize / 1024 / 1024
}
