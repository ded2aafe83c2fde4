/** The runs that this process executes and whose traces are recorded. */
import { isSampled } from '@tutti/core'

import { FollowedRun, type ReadEvents } from './followed-run.ts'

import type { LoggedRunEvent } from '@tutti/protocol'
import type { ResolvedTraceRunsOptions } from './options.ts'

/** What a run service tells of a run, as far as it matters here; see `RunActivity` of `@tutti/runs`. */
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

/** Follows runs from their claim until they are let go. */
export class FollowedRuns {
  readonly #options: ResolvedTraceRunsOptions
  readonly #runs = new Map<string, FollowedRun>()
  /** Claims of a run that are not let go yet: a run that comes back is claimed before its former claim is over. */
  readonly #claims = new Map<string, number>()
  readonly #catchingUp = new Set<Promise<void>>()

  constructor(options: ResolvedTraceRunsOptions) {
    this.#options = options
  }

  /** Learns of a claim, or that one is over. */
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
    // A run that was taken in by a process that traces nothing has no trace that all its owners know.
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
