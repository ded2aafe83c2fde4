/**
 * Lets readers of logs take turns, with several passes of the event loop between two turns. The embedded store answers
 * at once, and a page takes some milliseconds of the thread: without turns, many concurrent readers would block all
 * other work.
 */
const waiting: (() => void)[] = []
let isScheduled = false

/**
 * Number of passes of the event loop from one turn to the next. A pass accepts one connection, so with a turn in every
 * pass a new connection would wait for as many pages as there are connections before it.
 */
const PASSES = 8

/** Resolves when it is the caller's turn to read a page. */
export function readTurn(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve)
    if (!isScheduled) scheduleTurn(1)
  })
}

function scheduleTurn(passes: number): void {
  isScheduled = true
  // Scheduled from within a pass, it runs in the next one.
  setImmediate(() => {
    if (passes > 1) {
      scheduleTurn(passes - 1)
      return
    }
    const next = waiting.shift()
    isScheduled = next !== undefined
    if (next === undefined) return
    next()
    scheduleTurn(PASSES)
  })
}
