/** The value of a store in a component. */
import { useSyncExternalStore } from 'react'

import type { Readable } from './store.ts'

/** The value of a store, anew after each change. */
export function useStore<T>(store: Readable<T>): T {
  return useSyncExternalStore(store.follow, store.get)
}
