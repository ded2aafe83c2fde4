/** The records of stored runs. */
import { field } from '../domain/field.ts'

import type { RunRecord, RunWithTasks } from '../domain/run-record.ts'
import type { RunEventFeed } from '../feed/event-feed.ts'
import type { RunStorage } from '../ports/run-storage.ts'
import type {
  ChangedRunsPage,
  ChangedRunsQuery,
  RunListPage,
  RunQuery,
} from '../ports/run-store.ts'
import type { UnreadableReport } from './unreadable-report.ts'

/** Parts that read records. */
export interface RunRecordsOptions {
  readonly storage: RunStorage
  readonly feed: RunEventFeed
  readonly unreadable: UnreadableReport
}

/** Reads and deletes the records of runs, and logs damaged ones. */
export class RunRecords {
  readonly #options: RunRecordsOptions

  constructor(options: RunRecordsOptions) {
    this.#options = options
  }

  /** Returns a run without its tasks; undefined when the id is unknown. */
  find(runId: string): Promise<RunRecord | undefined> {
    return this.#options.storage.runs.get(runId)
  }

  /** Returns a run with its tasks; undefined when the id is unknown. */
  async get(runId: string): Promise<RunWithTasks | undefined> {
    const { storage, unreadable } = this.#options
    const run = await storage.runs.get(runId)
    if (run === undefined) return undefined
    const tasks = await storage.runs.tasks(runId)
    unreadable.report([
      run,
      ...tasks.map((task) => ({ runId, ...field('unreadable', task.unreadable) })),
    ])
    return { run, tasks }
  }

  /** Returns a page of runs, newest first. */
  async list(query: RunQuery): Promise<RunListPage> {
    const { storage, unreadable } = this.#options
    const page = await storage.runs.list(query)
    return { ...page, runs: unreadable.report(page.runs) }
  }

  /** Returns a page of runs, the one whose status changed last first. */
  listByChange(query: ChangedRunsQuery): Promise<ChangedRunsPage> {
    return this.#options.storage.runs.listByChange(query)
  }

  /** Deletes a run if it has ended. */
  async delete(runId: string): ReturnType<RunStorage['runs']['delete']> {
    const { storage, feed } = this.#options
    const end = await storage.runs.delete(runId)
    // Ends the streams of readers that follow the run.
    if (end === 'deleted') feed.onDeleted(runId)
    return end
  }
}
