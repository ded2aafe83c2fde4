/** The recorded runs that this process executes. */
import { isSampled } from '@tutti/core/internal'

import { FollowedRun, type ReadEvents } from './followed-run.ts'

import type { LoggedRunEvent } from '@tutti/protocol'
import type { ResolvedTraceRunsOptions } from './options.ts'

/** Activity of a run, with the fields that tracing needs; see `RunActivity` of `@tutti/runs`. */
export interface RunActivityLike {
  readonly kind: string
  readonly runId?: string
  readonly run?: {
    readonly runId: string
    readonly lastSeq?: number
    readonly request?: { readonly traceparent?: string; readonly tracestate?: string }
  }
  readonly lostOwners?: number
}

/** Follows runs from their claim until their release. */
export class FollowedRuns {
  readonly #options: ResolvedTraceRunsOptions
  readonly #runs = new Map<string, FollowedRun>()
  /** Number of unreleased claims by run: a run that returns is claimed before its former claim is released. */
  readonly #claims = new Map<string, number>()
  readonly #catchingUp = new Set<Promise<void>>()

  constructor(options: ResolvedTraceRunsOptions) {
    this.#options = options
  }

  /** Takes the claim or the release of a run. */
  takeActivity({ kind, runId, run, lostOwners = 0 }: RunActivityLike, read: ReadEvents): void {
    if (kind === 'claimed' && run !== undefined) this.#claim(run, { lostOwners, read })
    if (kind === 'released' && runId !== undefined) this.#release(runId)
  }

  /** Takes events that were written here. */
  take(runId: string, events: readonly LoggedRunEvent[]): void {
    this.#runs.get(runId)?.take(events)
  }

  /** Resolves when the log of every run here has been read. */
  async caughtUp(): Promise<void> {
    await Promise.all(this.#catchingUp)
  }

  #claim(
    { runId, lastSeq = -1, request = {} }: NonNullable<RunActivityLike['run']>,
    { lostOwners, read }: { readonly lostOwners: number; readonly read: ReadEvents },
  ): void {
    this.#claims.set(runId, (this.#claims.get(runId) ?? 0) + 1)
    this.#runs.delete(runId)
    const { traceparent } = request
    // A run that was submitted to a process without tracing has no trace that all its owners know.
    if (traceparent === undefined || !isSampled(traceparent)) return
    const start = { ...request, runId, traceparent, lastSeq, wasLost: lostOwners > 0 }
    const followed = new FollowedRun(start, this.#options, read)
    this.#runs.set(runId, followed)
    this.#catchingUp.add(followed.caughtUp)
    void followed.caughtUp.then(() => {
      this.#catchingUp.delete(followed.caughtUp)
    })
  }

  #release(runId: string): void {
    const left = (this.#claims.get(runId) ?? 1) - 1
    if (left > 0) {
      this.#claims.set(runId, left)
      return
    }
    this.#claims.delete(runId)
    this.#runs.delete(runId)
  }
}
