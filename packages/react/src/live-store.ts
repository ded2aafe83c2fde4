/**
 * Values that change while components show them, as external stores of React.
 *
 * REACT-1 A store is open while at least one component subscribes to it. The first subscriber opens it, and the last
 *    one closes it, also when React mounts a component twice.
 * REACT-2 The snapshot changes only when its listeners are notified, so that no two components show different values.
 *    Changes that arrive together are notified once.
 * REACT-3 A closed store keeps its value and changes no more. When it is opened again, it continues from there.
 */
import { useSyncExternalStore } from 'react'

/** A store that components can subscribe to. */
export interface LiveStore<T> {
  /** Returns the value that components show. */
  get(): T
  /** Returns the value before the store was first opened. */
  getInitial(): T
  /** Calls `listener` after each change, until the returned function is called. */
  subscribe(listener: () => void): () => void
  /** Reads the value from the server again, if the store is open. */
  refresh(): void
}

/** An open store, for the code that changes its value. */
export interface OpenStore<T> {
  /** Aborts when the store is closed. */
  readonly signal: AbortSignal
  /** Returns the newest value, including changes before their notification. */
  get(): T
  /** Calls `change` before the next notification, or before the value is read. */
  update(change: (value: T) => T): void
}

/** Opens a store, and returns the function that reads its value again. */
export type StoreOpener<T> = (store: OpenStore<T>) => () => void

export function createLiveStore<T>(initial: T, open: StoreOpener<T>): LiveStore<T> {
  const listeners = new Set<() => void>()
  let newest = initial
  let shown = initial
  let changes: ((value: T) => T)[] = []
  let controller: AbortController | undefined
  let refresh: (() => void) | undefined
  let timer: ReturnType<typeof setTimeout> | undefined
  const getNewest = (): T => {
    const due = changes
    changes = []
    newest = due.reduce((value, change) => change(value), newest)
    return newest
  }
  const show = (): void => {
    timer = undefined
    shown = getNewest()
    for (const listener of listeners) listener()
  }
  const openStore = (): void => {
    const opened = new AbortController()
    const { signal } = opened
    controller = opened
    refresh = open({
      signal,
      get: getNewest,
      update(change) {
        if (signal.aborted) return
        changes.push(change)
        timer ??= setTimeout(show, 0)
      },
    })
  }
  const closeStore = (): void => {
    clearTimeout(timer)
    timer = undefined
    refresh = undefined
    controller?.abort()
  }
  return {
    get: () => shown,
    getInitial: () => initial,
    subscribe(listener) {
      // A separate function, because the same listener may subscribe twice.
      const own = (): void => listener()
      listeners.add(own)
      if (listeners.size === 1) openStore()
      return () => {
        listeners.delete(own)
        if (listeners.size === 0) closeStore()
      }
    },
    refresh: () => refresh?.(),
  }
}

/** Returns the value of a store, and renders again when it changes. */
export function useLiveStore<T>(store: LiveStore<T>): T {
  return useSyncExternalStore(store.subscribe, store.get, store.getInitial)
}
