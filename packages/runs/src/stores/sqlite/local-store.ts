/**
 * The embedded store on the thread of its caller. A commit then takes the least processor time, and the event loop waits for
 * the disk meanwhile.
 */
import { currentSource } from '../../load/work-source.ts'
import {
  callStore,
  openSqliteStore,
  type SqliteStoreOptions,
  type StoreClient,
} from './open-store.ts'

/** Options of {@link openHere}. */
export interface LocalOptions extends Omit<SqliteStoreOptions, 'source' | 'pause'> {
  readonly directory: string
}

/** Passes of the event loop after a transaction that took long, in which requests are accepted and answered. */
const PAUSE = 8

/**
 * Opens the store on this thread.
 *
 * @throws as `openSqliteStore`.
 */
export function openHere({ directory, ...options }: LocalOptions): StoreClient {
  const store = openSqliteStore(directory, { ...options, source: currentSource, pause: PAUSE })
  let isOpen = true
  return {
    call(port, method, given) {
      if (isOpen) return callStore(store, { port, method, given })
      return Promise.reject(new Error(`The run store in "${directory}" is not open`))
    },
    hub: store.hub,
    get isAvailable() {
      return store.isAvailable
    },
    async close() {
      if (!isOpen) return
      isOpen = false
      store.hub.close()
      store.close()
    },
  }
}
