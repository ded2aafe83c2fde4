import { CANCEL_GRACE_MS, type Clock } from '@tutti/core'

import { stoppedError } from './stopped-error.ts'

/** How work is waited for. */
export interface UntilStoppedOptions {
  readonly signal: AbortSignal
  readonly clock: Clock
  /** What the work is, as the beginning of a message, such as `Model call`. */
  readonly what: string
}

const abandoned = new WeakSet<object>()

/** Whether an error says that work was abandoned, and not what the work itself came to. */
export function isAbandoned(error: unknown): boolean {
  return typeof error === 'object' && error !== null && abandoned.has(error)
}

/**
 * What `work` comes to. When the signal aborts it waits for the work to stop, at most `CANCEL_GRACE_MS`;
 * work that goes on after that is abandoned, and the error says so.
 */
export function untilStopped<T>(
  work: Promise<T>,
  { signal, clock, what }: UntilStoppedOptions,
): Promise<T> {
  return new Promise((resolve, reject) => {
    let stopGrace: (() => void) | undefined
    const onAbort = (): void => {
      stopGrace = clock.after(CANCEL_GRACE_MS, () => {
        const error = stoppedError(signal, what, { abandoned: true })
        abandoned.add(error)
        reject(error)
      })
    }
    signal.addEventListener('abort', onAbort, { once: true })
    // The work may have begun, and the signal aborted, before there was a listener.
    if (signal.aborted) onAbort()
    const letGo = (): void => {
      signal.removeEventListener('abort', onAbort)
      stopGrace?.()
    }
    work.then(
      (value) => {
        letGo()
        resolve(value)
      },
      (error: unknown) => {
        letGo()
        reject(error)
      },
    )
  })
}
