/** A value that changes, and those who want to know. */
import { useSyncExternalStore } from 'react'

/** A value to be read, and followed. */
export interface Readable<T> {
  readonly get: () => T
  /** Calls `reader` after each change, until the function it gives is called. */
  readonly follow: (reader: () => void) => () => void
}

/** A value to be changed too. */
export interface Store<T> extends Readable<T> {
  readonly set: (value: T) => void
}

/** Makes a store. Setting the value that it has tells nobody. */
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

/** The value of a store, anew after each change. */
export function useStore<T>(store: Readable<T>): T {
  return useSyncExternalStore(store.follow, store.get)
}
