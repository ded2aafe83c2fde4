/** Writers that repeat a write until its result is known, for tests. */
import { deepStrictEqual, ok } from 'node:assert/strict'

import { systemClock } from '@tutti/core'
import { sleep } from '@tutti/core/internal'

import { token } from '../../../testing/support/event-fixtures.ts'

import type { RunStorage } from '../../../ports/run-storage.ts'
import type { Owner } from '../../../testing/support/run-fixtures.ts'

/** Maximum time of a few writes, in milliseconds. */
const LIMIT_MS = 60_000

/** Writers that repeat a write until its result is known. */
export class StubbornWriters {
  /** Number of confirmed writes of each run. */
  readonly written: number[]
  unavailable = 0
  isDone = false
  readonly #owners: readonly Owner[]

  constructor(owners: readonly Owner[]) {
    this.#owners = owners
    this.written = owners.map(() => 0)
  }

  async write(storage: RunStorage): Promise<void> {
    await Promise.all(
      this.#owners.map(async ({ runId, token: held }, index) => {
        while (!this.isDone) {
          const done = this.written[index] ?? 0
          const [answer] = await storage.runs.commit([
            { runId, token: held, writeNo: done + 1, events: [token(`${done}`)], steps: [] },
          ])
          if (answer?.kind === 'unavailable') this.unavailable += 1
          else {
            ok(answer?.kind === 'written', `the write is ${answer?.kind}`)
            deepStrictEqual(
              answer.events.map(({ seq }) => seq),
              [done + 1],
            )
            this.written[index] = done + 1
          }
        }
      }),
    )
  }

  /** Resolves after a few more writes to each run. */
  async more(): Promise<void> {
    const before = [...this.written]
    const limit = Date.now() + LIMIT_MS
    while (this.written.some((count, index) => count < (before[index] ?? 0) + 3)) {
      ok(Date.now() < limit, 'the writes continue')
      await sleep(systemClock, 10)
    }
  }
}
