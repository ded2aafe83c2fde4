import type { Clock } from '@tutti/core'
import { CANCEL_GRACE_MS } from '@tutti/core/internal'

import { onAbort } from './on-abort.ts'
import { stoppedError } from './stopped-error.ts'

/** Options of {@link untilStopped}. */
export interface UntilStoppedOptions {
  readonly signal: AbortSignal
  readonly clock: Clock
  /** Start of the message, such as `Model call`. */
  readonly what: string
  /**
   * Returns a promise of the end of other work for which the work waits; undefined if there is none. The time to stop begins when
   * there is none, and again if there is some when it is over.
   */
  readonly waitsFor?: () => Promise<unknown> | undefined
}

/**
 * Returns the result of `work`. After the signal aborts, waits at most `CANCEL_GRACE_MS` for the work to
 * stop; work that has not stopped by then is abandoned and named in the error.
 */
export function untilStopped<T>(
  work: Promise<T>,
  { signal, clock, what, waitsFor }: UntilStoppedOptions,
): Promise<T> {
  return new Promise((resolve, reject) => {
    let stopGrace: (() => void) | undefined
    let isOver = false
    const startGrace = (): void => {
      if (isOver) return
      const waiting = waitsFor?.()
      if (waiting === undefined) stopGrace = clock.after(CANCEL_GRACE_MS, endGrace)
      else void waiting.then(startGrace, startGrace)
    }
    const endGrace = (): void => {
      if (waitsFor?.() === undefined) reject(stoppedError(signal, what, { abandoned: true }))
      else startGrace()
    }
    const stopListening = onAbort(signal, startGrace)
    const release = (): void => {
      isOver = true
      stopListening()
      stopGrace?.()
    }
    work.then(
      (value) => {
        release()
        resolve(value)
      },
      (error: unknown) => {
        release()
        reject(error)
      },
    )
  })
}
