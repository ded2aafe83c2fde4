/** Writers that send a write again until they know what became of it, for tests. */
import { deepStrictEqual, ok } from 'node:assert/strict'

import { sleep, systemClock } from '@tutti/core'

import { token } from '../../testing/event-fixtures.ts'

import type { RunStorage } from '../../ports/run-storage.ts'
import type { Owner } from '../../testing/run-fixtures.ts'

/** How long a few writes may take, in milliseconds. */
const LIMIT_MS = 20_000

/** Writers that send a write again until they know what became of it. */
export class StubbornWriters {
  /** How many writes of each run are known to be there. */
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
      this.#owners.map(async ({ runId, epoch }, index) => {
        while (!this.isDone) {
          const done = this.written[index] ?? 0
          const [answer] = await storage.runs.commit([
            { runId, epoch, writeNo: done + 1, events: [token(`${done}`)], steps: [] },
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

  /** Resolves when each run was written to a few times more. */
  async more(): Promise<void> {
    const before = [...this.written]
    const limit = Date.now() + LIMIT_MS
    while (this.written.some((count, index) => count < (before[index] ?? 0) + 3)) {
      ok(Date.now() < limit, 'the writes go on')
      await sleep(systemClock, 10)
    }
  }
}
