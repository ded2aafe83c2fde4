/**
 * Listeners for the abort of a signal. A run waits many times with one signal, mostly for a short time, so its
 * waits share one set of listeners: adding and removing an entry is several times cheaper than an event listener.
 * The set is a property of the signal, because an entry of a WeakMap costs more than all waits of a short run.
 */

const LISTENERS = Symbol('abort listeners')

type SharedSignal = AbortSignal & { [LISTENERS]?: Set<() => void> }

/** A controller that calls the listeners of {@link onAbort} itself, without an event listener on its signal. */
export class StopController {
  readonly #controller = new AbortController()
  readonly #listeners = new Set<() => void>()
  readonly signal: AbortSignal

  constructor() {
    const signal: SharedSignal = this.#controller.signal
    signal[LISTENERS] = this.#listeners
    this.signal = signal
  }

  /** Aborts the signal, unless it has been aborted. */
  abort(reason: unknown): void {
    if (this.signal.aborted) return
    this.#controller.abort(reason)
    callAll(this.#listeners)
  }
}

/**
 * Calls `listener` when `signal` aborts, at once if it already has, unless the returned function is called
 * before.
 */
export function onAbort(signal: AbortSignal, listener: () => void): () => void {
  if (signal.aborted) {
    listener()
    return () => undefined
  }
  const shared = shareListeners(signal)
  shared.add(listener)
  return () => {
    shared.delete(listener)
  }
}

/** Returns the shared listeners of a signal. */
function shareListeners(signal: SharedSignal): Set<() => void> {
  const earlier = signal[LISTENERS]
  if (earlier !== undefined) return earlier
  const listeners = new Set<() => void>()
  signal[LISTENERS] = listeners
  const onEvent = (): void => {
    callAll(listeners)
  }
  signal.addEventListener('abort', onEvent, { once: true })
  return listeners
}

function callAll(listeners: ReadonlySet<() => void>): void {
  for (const listener of listeners) listener()
}
