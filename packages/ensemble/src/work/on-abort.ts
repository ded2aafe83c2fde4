/**
 * Listeners for the abort of a signal. A run waits many times with one signal, mostly for a short time, so its
 * waits share one listener of the signal: adding and removing an entry of a set is several times cheaper.
 */

const listeners = new WeakMap<AbortSignal, Set<() => void>>()

/**
 * Calls `listener` when `signal` aborts, at once if it already has, unless the returned function is called
 * before.
 */
export function onAbort(signal: AbortSignal, listener: () => void): () => void {
  if (signal.aborted) {
    listener()
    return () => undefined
  }
  const shared = listeners.get(signal) ?? shareListener(signal)
  shared.add(listener)
  return () => {
    shared.delete(listener)
  }
}

function shareListener(signal: AbortSignal): Set<() => void> {
  const shared = new Set<() => void>()
  const callAll = (): void => {
    for (const listener of shared) listener()
  }
  signal.addEventListener('abort', callAll, { once: true })
  listeners.set(signal, shared)
  return shared
}
