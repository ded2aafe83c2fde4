/**
 * Lets readers of logs take turns, one in each pass of the event loop. The embedded store answers at once and a page
 * takes some milliseconds of the thread: without turns, many readers that begin together would stop everything else.
 */
const waiting: (() => void)[] = []
let isScheduled = false

/** Resolves when it is the caller's turn to read a page. */
export function readTurn(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve)
    schedule()
  })
}

function schedule(): void {
  if (isScheduled) return
  isScheduled = true
  setImmediate(() => {
    isScheduled = false
    waiting.shift()?.()
    // Scheduled from within this pass, it runs in the next one.
    if (waiting.length > 0) schedule()
  })
}
