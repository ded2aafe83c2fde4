/** Observable values. */
import { useSyncExternalStore } from 'react'

/** A value that can be read and observed. */
export interface Readable<T> {
  readonly get: () => T
  /** Calls `reader` after each change; returns a function that stops this. */
  readonly follow: (reader: () => void) => () => void
}

/** A value that can also be changed. */
export interface Store<T> extends Readable<T> {
  readonly set: (value: T) => void
}

/** Creates a store. Setting the current value notifies no readers. */
export function createStore<T>(initial: T): Store<T> {
  let value = initial
  const readers = new Set<() => void>()
  return {
    get: () => value,
    set(next) {
      if (Object.is(next, value)) return
      value = next
      for (const reader of readers) reader()
    },
    follow(reader) {
      readers.add(reader)
      return () => readers.delete(reader)
    },
  }
}

/** Returns the value of a store and renders again after each change. */
export function useStore<T>(store: Readable<T>): T {
  return useSyncExternalStore(store.follow, store.get)
}
