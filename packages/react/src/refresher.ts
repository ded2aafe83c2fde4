/** Repeats a read whose result may have changed. */

/** Minimum time between the end of a read and the next one, in milliseconds. */
const PAUSE_MS = 200

/**
 * Returns a function that requests a read. Reads do not overlap, and requests during a read or the pause after it are
 * answered by one more read.
 */
export function createRefresher(read: () => Promise<void>, signal: AbortSignal): () => void {
  let isBusy = false
  let isWanted = false
  const refresh = (): void => {
    if (signal.aborted) return
    if (isBusy) {
      isWanted = true
      return
    }
    isBusy = true
    isWanted = false
    void read().finally(() => {
      setTimeout(() => {
        isBusy = false
        if (isWanted) refresh()
      }, PAUSE_MS)
    })
  }
  return refresh
}
