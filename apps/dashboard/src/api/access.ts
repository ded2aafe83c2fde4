/**
 * The API key of this tab. It is stored in the session storage of the tab and sent in a header; it
 * is never part of a URL. The client opens sockets with a ticket that it gets with the key.
 */
import { createStore } from '../lib/store.ts'
import { readStoredKey, storeKey } from './stored-key.ts'

/** The key and its state. */
export interface KeyState {
  readonly key: string | undefined
  /**
   * Whether the page must ask for a key: the server rejected it or requires one, or the reader
   * signed out.
   */
  readonly isRefused: boolean
}

/** The key of this tab. */
export const access = createStore<KeyState>({ key: readStoredKey(), isRefused: false })

/** Stores a key that the server accepted. */
export function setKey(key: string): void {
  storeKey(key)
  access.set({ key, isRefused: false })
}

/** Records that the server rejected the key, and deletes it. */
export function refuseKey(): void {
  if (access.get().isRefused) return
  storeKey(undefined)
  access.set({ ...access.get(), isRefused: true })
}

/** Signs out: deletes the key and makes the page ask for one. */
export function forgetKey(): void {
  storeKey(undefined)
  access.set({ key: undefined, isRefused: true })
}
