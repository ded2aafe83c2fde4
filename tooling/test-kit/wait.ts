/** Waiting in tests, for what has no event to wait for. */
import { setImmediate, setTimeout } from 'node:timers/promises'

const POLL_MS = 5
const LIMIT_MS = 30_000

/** Lets every promise that is ready run, by one turn of the event loop. */
export async function settle(): Promise<void> {
  await setImmediate()
}

/**
 * Resolves as soon as `holds` returns true; it is asked every 5 ms.
 *
 * @throws {Error} naming `what`, after 30 s
 */
export async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + LIMIT_MS
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`Waited ${LIMIT_MS} ms in vain for ${what}`)
    await setTimeout(POLL_MS)
  }
}
