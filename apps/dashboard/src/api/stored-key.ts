/** The API key in the session storage of this tab. */

/** Key in the session storage. */
const STORAGE_KEY = 'tutti.key'

/** Returns the stored key; undefined if there is none. */
export function readStoredKey(): string | undefined {
  return openStorage()?.getItem(STORAGE_KEY) ?? undefined
}

/** Stores a key, or deletes it. */
export function storeKey(key: string | undefined): void {
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
