/**
 * The time of one request: it ends when its caller aborts or a limit passes, and all that waits in it
 * stops then. Its owner closes it, which lets go of the caller's signal and of what is still open.
 */
import type { Clock } from '@tutti/core'

/** A request that can end early. */
export interface RequestScope {
  /** Aborts when the scope ends. */
  readonly signal: AbortSignal
  /** What `promise` gives, or a rejection with the reason of the end as soon as the scope ends. */
  race<T>(promise: Promise<T>): Promise<T>
  /** Ends the scope with `reason` after `limitMs`, unless the returned function is called before. */
  limit(limitMs: number, reason: () => Error): () => void
  close(): void
}

/** Opens a scope that ends with the caller's signal. */
export function openRequestScope(clock: Clock, caller: AbortSignal | undefined): RequestScope {
  const controller = new AbortController()
  const { signal } = controller
  const stops: (() => void)[] = []
  const follow = (): void => {
    controller.abort(caller?.reason)
  }
  caller?.addEventListener('abort', follow, { once: true })
  if (caller?.aborted === true) follow()
  return {
    signal,
    race: (promise) => orEnd(promise, signal),
    limit(limitMs, reason) {
      const stop = clock.after(limitMs, () => {
        controller.abort(reason())
      })
      stops.push(stop)
      return stop
    },
    close() {
      caller?.removeEventListener('abort', follow)
      for (const stop of stops) stop()
      controller.abort()
    },
  }
}

function orEnd<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const end = (): void => {
      reject(signal.reason)
    }
    signal.addEventListener('abort', end, { once: true })
    if (signal.aborted) end()
    promise.then(resolve, reject).finally(() => {
      signal.removeEventListener('abort', end)
    })
  })
}
