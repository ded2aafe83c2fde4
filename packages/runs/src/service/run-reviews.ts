/** The reviews of stored runs. */
import type { ReviewRecord } from '../domain/run-record.ts'
import type { RunStorage } from '../ports/run-storage.ts'
import type { ReviewQuery } from '../ports/run-store.ts'
import type { UnreadableReport } from './unreadable-report.ts'

/** Selects open reviews: of one run or of all, and of some kinds or of all. */
export type OpenReviewsQuery = Pick<ReviewQuery, 'runId' | 'kinds'>

/** Maximum size of the open reviews that are read at once, in bytes. */
const REVIEW_PAGE_BYTES = 4_000_000

/** Maximum number of open reviews of all runs that are read at once. */
const REVIEW_PAGE = 1_000

/** Reads reviews. */
export class RunReviews {
  readonly #storage: RunStorage
  readonly #unreadable: UnreadableReport

  constructor(storage: RunStorage, unreadable: UnreadableReport) {
    this.#storage = storage
    this.#unreadable = unreadable
  }

  /** Returns open reviews in the order in which they opened. */
  async open(which: OpenReviewsQuery = {}): Promise<readonly ReviewRecord[]> {
    const query = { ...which, open: true, limit: REVIEW_PAGE, maxBytes: REVIEW_PAGE_BYTES }
    return this.#unreadable.report(await this.#storage.runs.reviews(query))
  }

  /** Counts open reviews. */
  countOpen(which: OpenReviewsQuery = {}): Promise<number> {
    return this.#storage.runs.countReviews({ ...which, open: true })
  }

  /** Returns an open or closed review; undefined when the id is unknown. */
  async get(reviewId: string): Promise<ReviewRecord | undefined> {
    const [review] = await this.#storage.runs.reviews({ reviewId })
    return review
  }
}
