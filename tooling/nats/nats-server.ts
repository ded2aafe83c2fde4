/** Finds the NATS server for tests: that of `TUTTI_TEST_NATS_SERVER`, or another one. */
import { findProgram, hasProgram } from '../net/find-program.ts'

const NATS_SERVER = { name: 'nats-server', variable: 'TUTTI_TEST_NATS_SERVER' } as const

/** Returns the path of the server. @throws {Error} that says what is missing and how to install it. */
export function findNatsServer(): string {
  return findProgram(NATS_SERVER).path
}

/** Returns whether tests of NATS run. Without a server, they are skipped with a warning; in CI they fail. */
export function hasNatsServer(): boolean {
  return hasProgram(NATS_SERVER)
}
