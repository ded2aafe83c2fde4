/**
 * Limits new runs without counting them each time. After an exact count, a run takes at most the next row id, so the runs
 * that wait or execute are at most the counted ones and the row ids given out since. Runs that return from waiting for a
 * person take no id: a count is used for a short time, and only while it leaves half of the limit.
 */

/** An exact count, while no run was being created. */
export interface UnfinishedCount {
  readonly unfinished: number
  /** The greatest row id at the time of the count. */
  readonly lastId: number
}

/** Maximum age of a count, in milliseconds. */
const MAX_AGE_MS = 1_000

/** Part of the limit up to which runs are not counted. */
const UNCOUNTED_PART = 0.5

/** The last exact count. */
export class LastUnfinishedCount {
  readonly #elapsed: () => number
  #last: (UnfinishedCount & { readonly atMs: number }) | undefined

  /** `elapsed` returns the milliseconds of a monotonic clock. */
  constructor(elapsed: () => number) {
    this.#elapsed = elapsed
  }

  remember(count: UnfinishedCount): void {
    this.#last = { ...count, atMs: this.#elapsed() }
  }

  /** Whether there is no recent count. */
  get isOutdated(): boolean {
    return this.#last === undefined || this.#elapsed() - this.#last.atMs > MAX_AGE_MS
  }

  /** Returns the greatest row id that a run may have without another count; undefined without a recent count. */
  findLimit(maxUnfinishedRuns: number): number | undefined {
    if (this.#last === undefined || this.isOutdated) return undefined
    const { unfinished, lastId } = this.#last
    const room = Math.floor(maxUnfinishedRuns * UNCOUNTED_PART) - unfinished
    return room <= 0 ? undefined : Math.min(lastId + room, Number.MAX_SAFE_INTEGER)
  }
}
