/**
 * Routes in the hash of the URL: `#/runs/42?tab=costs`. The page can therefore be served below any
 * path, and its routes never collide with those of the API.
 */
import { useMemo, useSyncExternalStore } from 'react'

/** A parsed route: path segments and query. */
export interface PageRoute {
  readonly path: readonly string[]
  readonly query: Readonly<Record<string, string>>
}

/** Query values; empty and undefined ones are omitted. */
export type QueryValues = Readonly<Record<string, string | undefined>>

export function parseHash(hash: string): PageRoute {
  const [path, query] = splitOnce(hash.replace(/^#?\/?/, ''))
  return {
    path: path.split('/').filter(Boolean).map(decodeSegment),
    query: Object.fromEntries(new URLSearchParams(query)),
  }
}

export function formatHash(path: readonly string[], query: QueryValues = {}): string {
  const entries = Object.entries(query).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && entry[1] !== '',
  )
  const search = new URLSearchParams(entries).toString()
  return `#/${path.map(encodeURIComponent).join('/')}${search === '' ? '' : `?${search}`}`
}

/** Navigates to a hash; `replace` adds no history entry. */
export function goTo(hash: string, { replace = false } = {}): void {
  if (replace) history.replaceState(history.state, '', hash)
  else history.pushState(undefined, '', hash)
  dispatchEvent(new HashChangeEvent('hashchange'))
}

/** Returns the current route. */
export function useRoute(): PageRoute {
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

/** Decodes a path segment. Invalid encoding, such as in a typed address, is returned unchanged. */
function decodeSegment(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
