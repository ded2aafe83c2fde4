/** Repeats a task at an interval, never twice at the same time. */
import type { Clock } from '@tutti/core'

/** A repeated task. */
export interface Repeated {
  readonly clock: Clock
  /** In milliseconds; a function is called before each repetition. */
  readonly everyMs: number | (() => number)
  readonly task: () => Promise<void>
  readonly onError: (error: unknown) => void
}

/** Runs `task` `everyMs` after its previous end, until the returned function is called. */
export function every({ clock, everyMs, task, onError }: Repeated): () => void {
  let isStopped = false
  let stopTimer = (): void => undefined
  const wait = (): void => {
    if (isStopped) return
    stopTimer = clock.after(typeof everyMs === 'number' ? everyMs : everyMs(), () => {
      task().catch(onError).finally(wait)
    })
  }
  wait()
  return () => {
    isStopped = true
    stopTimer()
  }
}
