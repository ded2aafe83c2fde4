/**
 * The key of this tab. It is kept for the session of the tab alone, and goes in a header; it is never part
 * of an address. Sockets open with a ticket, which the client gets with the key.
 */
import { createStore } from '../lib/store.ts'

/** Where the browser keeps it until the tab is closed. */
const PLACE = 'tutti.key'

/** What is known of the key that the server wants. */
export interface KeyState {
  readonly key: string | undefined
  /** Whether the server has refused it, or asked for one. */
  readonly isRefused: boolean
}

/** The key of this tab. */
export const access = createStore<KeyState>({ key: keptKey(), isRefused: false })

/** Takes a key that the server takes. */
export function setKey(key: string): void {
  keep(key)
  access.set({ key, isRefused: false })
}

/** Notes that the server did not take the key, which is then kept no longer. */
export function refuseKey(): void {
  if (access.get().isRefused) return
  keep(undefined)
  access.set({ ...access.get(), isRefused: true })
}

/** Has the page ask for a key, as the reader wants to leave. */
export function forgetKey(): void {
  keep(undefined)
  access.set({ key: undefined, isRefused: true })
}

function keptKey(): string | undefined {
  return storage()?.getItem(PLACE) ?? undefined
}

function keep(key: string | undefined): void {
  if (key === undefined) storage()?.removeItem(PLACE)
  else storage()?.setItem(PLACE, key)
}

/** A browser that keeps nothing for pages throws at the first look; the key then lasts until a reload. */
function storage(): Storage | undefined {
  try {
    return sessionStorage
  } catch {
    return undefined
  }
}
