/** Repeats a task at an interval, never twice at the same time. */
import type { Clock } from '@tutti/core'

/** A repeated task. */
export interface Repeated {
  readonly clock: Clock
  readonly everyMs: number
  readonly task: () => Promise<void>
  readonly onError: (error: unknown) => void
}

/** Runs `task` `everyMs` after its previous end, until the returned function is called. */
export function every({ clock, everyMs, task, onError }: Repeated): () => void {
  let isStopped = false
  let stopTimer = (): void => undefined
  const wait = (): void => {
    if (isStopped) return
    stopTimer = clock.after(everyMs, () => {
      task().catch(onError).finally(wait)
    })
  }
  wait()
  return () => {
    isStopped = true
    stopTimer()
  }
}
