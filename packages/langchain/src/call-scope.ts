/** The scope of one call: it ends with the caller's signal, with the time limit, or when it is closed. */
import type { Clock } from '@tutti/core'

/** The limits of a call. */
export interface CallScopeOptions {
  readonly signal: AbortSignal
  readonly clock: Clock
  /** Time limit in milliseconds; 0 for none. */
  readonly timeoutMs: number
  /** Creates the error that is thrown at the limit. */
  readonly timeoutError: () => Error
}

/** A call in flight. */
export interface ModelCallScope {
  /** Aborts when the call must stop; its reason is what the call throws. */
  readonly signal: AbortSignal
  /** Ends the call and everything in flight, such as its HTTP request. */
  close(): void
}

/** Opens the scope of a call; the caller closes it. */
export function openCallScope(options: CallScopeOptions): ModelCallScope {
  const { signal, clock, timeoutMs, timeoutError } = options
  const controller = new AbortController()
  const onAbort = (): void => {
    controller.abort(signal.reason)
  }
  if (signal.aborted) onAbort()
  signal.addEventListener('abort', onAbort)
  const stopTimer =
    timeoutMs === 0
      ? undefined
      : clock.after(timeoutMs, () => {
          controller.abort(timeoutError())
        })
  return {
    signal: controller.signal,
    close() {
      stopTimer?.()
      signal.removeEventListener('abort', onAbort)
      controller.abort()
    },
  }
}

/** Returns `promise`, but rejects with the reason of `signal` as soon as it aborts. */
export function rejectOnAbort<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => {
      reject(signal.reason)
    }
    const settle = (act: () => void): void => {
      signal.removeEventListener('abort', onAbort)
      act()
    }
    if (signal.aborted) onAbort()
    signal.addEventListener('abort', onAbort)
    promise.then(
      (value) => {
        settle(() => {
          resolve(value)
        })
      },
      (error: unknown) => {
        settle(() => {
          reject(error)
        })
      },
    )
  })
}
