/**
 * Runs whose only reader was a connection, after the process with the connection has died.
 *
 * GW-G7 A run that only the connection of its request could read is cancelled when the process with the connection has
 *    died: a chat completion or a synchronous response without an `Idempotency-Key`, before it has given its client a call
 *    or a review to answer. A lost connection would have cancelled it too. In a store of one process, the next process
 *    cancels it at its start. In a shared store, the process that executes the run cancels it when the other one has had
 *    no lease at two checks in a row: a process that has just started, or that cannot reach the store for a moment, lives.
 */
import { systemClock, type Clock, type Logger } from '@tutti/core'
import type { RunService } from '@tutti/runs'
import type { RunRecord } from '@tutti/runs/adapter'
import { eventPages, type ActivityListener, type RunProcesses } from '@tutti/runs/internal'

import { anyone } from '../caller.ts'
import { cancelUnlessOver } from '../runs/cancel-run.ts'

/** Reviews by which a client can ask for its run again. */
export type KnownReviews = 'clientTools' | 'all'

/** Keys of the memo of a run: {@link KnownReviews}, and the id of the process with the connection. */
const MEMO = 'onlyReader'
const PROCESS_MEMO = 'readerProcess'

/** Returns the memo of a run that only a connection of this process can read, until it has one of these reviews. */
export function toReaderMemo(
  known: KnownReviews,
  { own }: Pick<RunProcesses, 'own'>,
): Readonly<Record<string, unknown>> {
  return { [MEMO]: known, [PROCESS_MEMO]: own }
}

/** The runs that a process found unfinished when it started. */
export interface UnfinishedRuns {
  readonly runIds: readonly string[]
  /** Time at which the process began to accept runs, in milliseconds since 1970; later runs are its own. */
  readonly before: number
}

/** Run service that cancels orphans, and the log for failures. */
export interface OrphanOptions {
  readonly runs: RunService
  readonly logger: Logger
}

/** Cancels those of the unfinished runs of an earlier process that no client can read. Never rejects. */
export async function cancelOrphans(
  { runs, logger }: OrphanOptions,
  { runIds, before }: UnfinishedRuns,
): Promise<void> {
  for (const runId of runIds) {
    try {
      const run = await runs.record(runId)
      if (run === undefined || run.createdAt >= before) continue
      if (!(await isOrphan(runs, run))) continue
      await cancelUnlessOver(runs, runId, {
        mode: 'abort',
        cause: 'CLIENT_LEFT',
        caller: anyone(),
      })
      logger.info('Cancelled a run whose client was connected to a process that has died', {
        runId,
      })
    } catch (error) {
      logger.warn('Failed to cancel a run whose client was connected to a process that has died', {
        runId,
        error,
      })
    }
  }
}

/** Interval of the checks of an {@link OrphanWatch}, in milliseconds: longer than a process needs to get its first lease. */
const CHECK_MS = 15_000

/** Cancels runs that this process executes for clients of processes that have died. For shared stores. */
export class OrphanWatch {
  /** Process with the connection, by run that executes here. */
  readonly #readers = new Map<string, string>()
  /** Processes without a lease at the last check. */
  #missing: ReadonlySet<string> = new Set()
  #isStopped = false
  #stopTimer: () => void = () => undefined

  /** Listener for `RunServiceOptions.onActivity`. */
  readonly onActivity: ActivityListener = (activity) => {
    if (activity.kind === 'released') this.#readers.delete(activity.runId)
    if (activity.kind !== 'claimed') return
    const reader = activity.run.request?.memo?.[PROCESS_MEMO]
    if (typeof reader === 'string') this.#readers.set(activity.run.runId, reader)
  }

  /** Checks until `stop` is called. */
  start(options: OrphanOptions & { readonly clock?: Clock }): void {
    const { clock = systemClock, logger } = options
    const wait = (): void => {
      if (this.#isStopped) return
      this.#stopTimer = clock.after(CHECK_MS, () => {
        this.#check(options)
          .catch((error: unknown) => {
            logger.warn('Failed to check for runs of clients of dead processes', { error })
          })
          .finally(wait)
      })
    }
    wait()
  }

  stop(): void {
    this.#isStopped = true
    this.#stopTimer()
  }

  async #check(options: OrphanOptions): Promise<void> {
    const { own, hasLease } = options.runs.processes
    const missing = new Set<string>()
    for (const reader of new Set(this.#readers.values())) {
      if (reader !== own && !(await hasLease(reader))) missing.add(reader)
    }
    const before = this.#missing
    this.#missing = missing
    const runIds = [...this.#readers].flatMap(([runId, reader]) =>
      missing.has(reader) && before.has(reader) ? [runId] : [],
    )
    // A run that is not an orphan now has a review that its client knows, and never becomes one.
    for (const runId of runIds) this.#readers.delete(runId)
    await cancelOrphans(options, { runIds, before: Infinity })
  }
}

async function isOrphan(
  runs: Pick<RunService, 'readEvents'>,
  { runId, request }: RunRecord,
): Promise<boolean> {
  const known = request?.memo?.[MEMO]
  if (known === undefined) return false
  for await (const page of eventPages(runs, { runId, from: 0 })) {
    const isKnown = page.some(
      (event) =>
        event.type === 'review_requested' && (known === 'all' || event.kind === 'CLIENT_TOOL'),
    )
    if (isKnown) return false
  }
  return true
}
