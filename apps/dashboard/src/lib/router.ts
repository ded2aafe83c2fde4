/**
 * Where the reader is, in the part of the address after `#`: `#/runs/42?tab=costs`. The page can so be
 * served below any path, and no place of it can be taken for an address of the API.
 */
import { useMemo, useSyncExternalStore } from 'react'

/** A place: its path, in parts, and its query. */
export interface PagePlace {
  readonly path: readonly string[]
  readonly query: Readonly<Record<string, string>>
}

/** Values of a query; those that are empty or undefined are left out. */
export type QueryValues = Readonly<Record<string, string | undefined>>

/** The place that a hash names. */
export function parseHash(hash: string): PagePlace {
  const [path, query] = splitOnce(hash.replace(/^#?\/?/, ''))
  return {
    path: path.split('/').filter(Boolean).map(decoded),
    query: Object.fromEntries(new URLSearchParams(query)),
  }
}

/** The hash that names a place. */
export function formatHash(path: readonly string[], query: QueryValues = {}): string {
  const entries = Object.entries(query).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && entry[1] !== '',
  )
  const search = new URLSearchParams(entries).toString()
  return `#/${path.map(encodeURIComponent).join('/')}${search === '' ? '' : `?${search}`}`
}

/** Goes to a hash; `replace` leaves no step to come back to. */
export function goTo(hash: string, { replace = false } = {}): void {
  if (replace) history.replaceState(history.state, '', hash)
  else history.pushState(undefined, '', hash)
  dispatchEvent(new HashChangeEvent('hashchange'))
}

/** Where the reader is now. */
export function usePlace(): PagePlace {
  const hash = useSyncExternalStore(follow, () => location.hash)
  return useMemo(() => parseHash(hash), [hash])
}

function follow(reader: () => void): () => void {
  addEventListener('hashchange', reader)
  addEventListener('popstate', reader)
  return () => {
    removeEventListener('hashchange', reader)
    removeEventListener('popstate', reader)
  }
}

function splitOnce(text: string): readonly [string, string] {
  const at = text.indexOf('?')
  return at === -1 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)]
}

/** A part that is not encoded well is taken as it is: the address may have been typed. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
