/** Finds a free port of 127.0.0.1 for a server that is about to start. */
import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'

/**
 * The ports to choose from. Systems choose those of outgoing connections from 32768 (Linux) or 49152 on, so no connection
 * takes one of these before the server starts, or while it restarts.
 */
const FIRST = 20_000
const LAST = 32_000

/** Number of ports to try. */
const TRIES = 100

const returned = new Set<number>()

/** Returns a free port, never the same one twice. @throws {Error} when none was found. */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < TRIES; attempt += 1) {
    const port = randomInt(FIRST, LAST)
    if (returned.has(port) || !(await isFree(port))) continue
    returned.add(port)
    return port
  }
  throw new Error(`Found no free port from ${FIRST} to ${LAST - 1} in ${TRIES} attempts`)
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => {
      resolve(false)
    })
    server.listen(port, '127.0.0.1', () => {
      server.close(() => {
        resolve(true)
      })
    })
  })
}
