/**
 * Scope of one call or connection. It ends when the caller aborts or a time limit passes; everything that waits in it
 * then stops at once.
 *
 * CLIENT-CS1 When a scope ends, everything that waits in it rejects with the reason of the end, a `TuttiClientError`.
 * CLIENT-CS2 A promise that settles after the end is still handled, so it causes no unhandled rejection.
 * CLIENT-CS3 A closed scope has no listener on the signals that it was opened with, and no request in flight.
 */
import { TuttiClientError } from './errors.ts'

import type { Clock } from '@tutti/protocol/internal'

/** A call that can end early. */
export interface CallScope {
  /** Aborts when the scope ends; its reason is a `TuttiClientError`. */
  readonly signal: AbortSignal
  /** Settles with `promise`, or rejects with the reason as soon as the scope ends. */
  race<T>(promise: Promise<T>): Promise<T>
  /** Ends the scope with TIMED_OUT after `limitMs`, unless the returned function is called first. */
  limit(limitMs: number, message: string): () => void
  /** Resolves after `delayMs`. */
  pause(delayMs: number): Promise<void>
  /**
   * Ends the scope; only its owner calls this. Calls that still wait, here or in scopes opened on its signal, fail with
   * `reason`, or with ABORTED caused by it.
   */
  close(reason?: unknown): void
}

/** Opens a scope that ends with the first of `signals` that aborts. */
export function openScope(
  clock: Clock,
  signals: readonly (AbortSignal | undefined)[] = [],
): CallScope {
  const controller = new AbortController()
  const { signal } = controller
  const parents = signals.filter((parent) => parent !== undefined)
  const follow = (): void => {
    const aborted = parents.find((parent) => parent.aborted)
    if (aborted !== undefined) end(endReason(aborted))
  }
  const end = (reason?: TuttiClientError): void => {
    for (const parent of parents) parent.removeEventListener('abort', follow)
    controller.abort(reason)
  }
  for (const parent of parents) parent.addEventListener('abort', follow)
  follow()
  const race = <T>(promise: Promise<T>): Promise<T> => raceEnd(promise, signal)
  return {
    signal,
    race,
    limit: (limitMs, message) =>
      limitMs === Infinity
        ? () => undefined
        : clock.after(limitMs, () => {
            end(new TuttiClientError('TIMED_OUT', message))
          }),
    async pause(delayMs) {
      let wake = (): void => undefined
      const woken = new Promise<void>((resolve) => {
        wake = resolve
      })
      const stop = clock.after(delayMs, wake)
      await race(woken).finally(stop)
    },
    close(reason) {
      end(reason === undefined ? undefined : asClientError(reason))
    },
  }
}

function endReason({ reason }: AbortSignal): TuttiClientError {
  return asClientError(reason)
}

function asClientError(reason: unknown): TuttiClientError {
  if (TuttiClientError.isInstance(reason)) return reason
  return new TuttiClientError('ABORTED', 'The caller aborted', { cause: reason })
}

function raceEnd<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onEnd = (): void => {
      reject(signal.reason)
    }
    const stopListening = (): void => {
      signal.removeEventListener('abort', onEnd)
    }
    signal.addEventListener('abort', onEnd)
    promise.finally(stopListening).then(resolve, reject)
    if (signal.aborted) onEnd()
  })
}
