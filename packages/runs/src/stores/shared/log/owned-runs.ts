/**
 * The known state of the runs that this process writes: their rows and tasks as its last write left them. A write that
 * finds its run here needs no read. It need not be true: a write changes only rows that are as known, and is decided again
 * otherwise.
 */
import { BoundedMap } from '@tutti/protocol/basics'

import type { KnownTasks } from '../../../log/apply-changes.ts'
import type { RunRow } from '../read-records.ts'

/** The row and all tasks of a run. */
export interface KnownRun {
  readonly row: RunRow
  readonly tasks: KnownTasks
}

/** Maximum number of runs. One that is forgotten is read again. */
const MAX_RUNS = 10_000

/** The known runs, the one that was written last at the end. */
export class OwnedRuns {
  readonly #byId = new BoundedMap<string, KnownRun>(MAX_RUNS)

  get isEmpty(): boolean {
    return this.#byId.size === 0
  }

  /** Remembers the row of a claimed run that has not started, and so has no tasks. */
  rememberClaimed(row: RunRow): void {
    const { runId, startedAt } = row.run
    if (startedAt === undefined) this.remember({ row, tasks: new Map() })
    else this.forget(runId)
  }

  remember(known: KnownRun): void {
    this.#byId.set(known.row.run.runId, known)
  }

  forget(runId: string): void {
    this.#byId.delete(runId)
  }

  /** Returns the run if its next write under the claim is `writeNo`. */
  find(next: {
    readonly runId: string
    readonly token: string
    readonly writeNo: number
  }): KnownRun | undefined {
    const known = this.#byId.get(next.runId)
    const isNext = known?.row.token === next.token && known.row.writeNo + 1 === next.writeNo
    return isNext ? known : undefined
  }
}
