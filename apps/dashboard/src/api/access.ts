/**
 * The API key of this tab. It is stored in the session storage of the tab and sent in a header; it
 * is never part of a URL. The client opens sockets with a ticket that it gets with the key.
 */
import { createStore } from '../lib/store.ts'

/** Key in the session storage. */
const STORAGE_KEY = 'tutti.key'

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

function readStoredKey(): string | undefined {
  return openStorage()?.getItem(STORAGE_KEY) ?? undefined
}

function storeKey(key: string | undefined): void {
  if (key === undefined) openStorage()?.removeItem(STORAGE_KEY)
  else openStorage()?.setItem(STORAGE_KEY, key)
}

/**
 * Returns the session storage; undefined if the browser denies access to it. The key then lasts
 * until a reload.
 */
function openStorage(): Storage | undefined {
  try {
    return sessionStorage
  } catch {
    return undefined
  }
}
