/** The current time, for durations that grow while they are shown. */
import { createContext, useContext, useSyncExternalStore } from 'react'

/** Interval of the timer that all running times on the page share, in milliseconds. */
const TICK_MS = 1_000

let now = Date.now()
let timer: ReturnType<typeof setInterval> | undefined
const readers = new Set<() => void>()

/**
 * Time that a part of the page shows, in milliseconds since 1970; undefined for the current time.
 */
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

function followNothing(): () => void {
  return () => undefined
}

/**
 * Returns the time of this part of the page in milliseconds since 1970: the `ShownTime`, or the
 * current time, updated each second while `isRunning`.
 */
export function useNow(isRunning = true): number {
  const shown = useContext(ShownTime)
  const live = useSyncExternalStore(
    isRunning && shown === undefined ? follow : followNothing,
    () => now,
  )
  return shown ?? live
}
