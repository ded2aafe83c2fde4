/** Waits in tests for conditions without an event. */
import { setImmediate, setTimeout } from 'node:timers/promises'

const POLL_MS = 5
const LIMIT_MS = 120_000

/** Runs all ready promise callbacks, by one turn of the event loop. */
export async function settle(): Promise<void> {
  await setImmediate()
}

/**
 * Resolves as soon as `holds` returns true; polls every 5 ms.
 *
 * @throws {Error} naming `what`, after two minutes
 */
export async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + LIMIT_MS
  while (!(await holds())) {
    if (performance.now() > deadline)
      throw new Error(`Timed out after ${LIMIT_MS} ms waiting for ${what}`)
    await setTimeout(POLL_MS)
  }
}
