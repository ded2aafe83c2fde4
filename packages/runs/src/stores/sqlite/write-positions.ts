/**
 * The newest event of each run that this process writes. Only its owner writes to an owned run, so the next write
 * can be prepared before the store is asked.
 */
import { BoundedMap } from '@tutti/protocol/basics'

import type { ClaimedRun } from '../../ports/run-queue.ts'
import type { RunWrite } from '../../ports/run-store.ts'

/** Maximum number of runs. The next write of one that is forgotten refers to no event. */
const MAX_RUNS = 10_000

interface Position {
  readonly token: string
  readonly writeNo: number
  readonly lastSeq: number
}

/** The known positions, by run. */
export class WritePositions {
  readonly #positions = new BoundedMap<string, Position>(MAX_RUNS)

  /** Number of known positions. */
  get size(): number {
    return this.#positions.size
  }

  /** Remembers the position of a claimed run. */
  claimed({ run: { runId, lastSeq }, token }: ClaimedRun): void {
    this.#positions.set(runId, { token, writeNo: 0, lastSeq })
  }

  /** Forgets a run that its owner releases: its next write follows another claim. */
  released(runId: string): void {
    this.#positions.delete(runId)
  }

  /** Returns the event that the write follows; undefined if it is not known. */
  find({ runId, token, writeNo }: RunWrite): number | undefined {
    const known = this.#positions.get(runId)
    const isNext = known?.token === token && known.writeNo + 1 === writeNo
    return isNext ? known.lastSeq : undefined
  }

  /** Remembers the position after a write whose first event has this sequence number. */
  written({ runId, token, writeNo, events }: RunWrite, firstSeq: number): void {
    const hasEnded = events.some(({ type }) => type === 'run_result')
    if (hasEnded) this.#positions.delete(runId)
    else this.#positions.set(runId, { token, writeNo, lastSeq: firstSeq + events.length - 1 })
  }
}
