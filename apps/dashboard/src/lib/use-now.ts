/** The time, for figures that grow while one looks at them. */
import { createContext, useContext, useSyncExternalStore } from 'react'

/** One timer for everything on the page that shows a running time. */
const TICK_MS = 1_000

let now = Date.now()
let timer: ReturnType<typeof setInterval> | undefined
const readers = new Set<() => void>()

/** The time that a part of the page shows, in milliseconds since 1970; undefined is the time it is. */
export const ShownTime = createContext<number | undefined>(undefined)

function tick(): void {
  now = Date.now()
  for (const reader of readers) reader()
}

function follow(reader: () => void): () => void {
  readers.add(reader)
  if (timer === undefined) {
    now = Date.now()
    timer = setInterval(tick, TICK_MS)
  }
  return () => {
    readers.delete(reader)
    if (readers.size > 0) return
    clearInterval(timer)
    timer = undefined
  }
}

function stand(): () => void {
  return () => undefined
}

/**
 * Milliseconds since 1970, anew each second while `isRunning`, or the time that this part of the page is
 * set to.
 */
export function useNow(isRunning = true): number {
  const shown = useContext(ShownTime)
  const live = useSyncExternalStore(isRunning && shown === undefined ? follow : stand, () => now)
  return shown ?? live
}
