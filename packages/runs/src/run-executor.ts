/**
 * Executes the runs of this process in turn: a bounded number at a time, the others wait in order.
 *
 *   enqueue ─▶ waiting ─▶ claim ─▶ executeRun ─▶ next
 *
 * Q1 At most `maxConcurrentRuns` execute at once; waiting runs start in the order they were enqueued.
 * Q2 A cancelled run that waits ends at once; one that executes ends when its work has stopped.
 * Q3 A run that was being cancelled when its process died is cancelled, not gone on with.
 */
import { isoNow, sleep, TuttiError } from '@tutti/core'

import { endRun, executeRun } from './execute-run.ts'

import type { DurableJournal, GroupCommit } from './group-commit.ts'
import type { ResolvedRunServiceOptions } from './options.ts'
import type { ClaimedRun, RunStore } from './ports/run-store.ts'
import type { RunRecord } from './run-record.ts'
import type { Ensemble } from '@tutti/ensemble'

/** What an executor works with. */
export interface RunExecutorOptions {
  readonly store: RunStore
  readonly commits: GroupCommit
  readonly ensembles: ReadonlyMap<string, Ensemble>
  readonly settings: ResolvedRunServiceOptions
}

/** A run that has a slot. */
interface ActiveRun {
  readonly controller: AbortController
  /** Its journal once it is claimed; undefined when it had ended already. */
  readonly journal: Promise<DurableJournal | undefined>
  readonly done: Promise<void>
}

/** The runs of this process that wait or execute. */
export class RunExecutor {
  readonly #options: RunExecutorOptions
  readonly #waiting: string[] = []
  readonly #active = new Map<string, ActiveRun>()
  #stopped = false

  constructor(options: RunExecutorOptions) {
    this.#options = options
  }

  /** How many execute. */
  get running(): number {
    return this.#active.size
  }

  /** How many wait. */
  get queued(): number {
    return this.#waiting.length
  }

  /** Puts runs at the end of the line and starts what there is room for. */
  enqueue(runIds: readonly string[]): void {
    this.#waiting.push(...runIds)
    this.#fillSlots()
  }

  /** Cancels a run that has not ended; resolves when the wish is durable. */
  async cancel(run: RunRecord): Promise<'CANCELLING' | 'CANCELLED'> {
    const active = this.#active.get(run.runId)
    if (active === undefined) return this.#cancelWaiting(run)
    const journal = await active.journal
    if (journal !== undefined && !active.controller.signal.aborted) {
      journal.emit(this.#cancelling())
      active.controller.abort(new TuttiError('CANCELLED', `Run ${run.runId} was cancelled`))
      await journal.flush()
    }
    return 'CANCELLING'
  }

  /** Starts nothing more, waits up to `drainTimeoutMs` for what executes, then lets go of it. */
  async stop(drainTimeoutMs: number): Promise<void> {
    this.#stopped = true
    const patience = new AbortController()
    const ended = this.#allDone().finally(() => {
      patience.abort()
    })
    await Promise.race([
      ended,
      sleep(this.#options.settings.clock, drainTimeoutMs, patience.signal),
    ])
    const reason = new TuttiError('INTERRUPTED', 'This process is shutting down')
    for (const { journal, controller } of this.#active.values()) {
      const claimed = await journal
      claimed?.detach(reason)
      controller.abort(reason)
    }
    await ended
    patience.abort()
  }

  async #allDone(): Promise<void> {
    await Promise.all([...this.#active.values()].map(({ done }) => done))
  }

  #fillSlots(): void {
    while (!this.#stopped && this.#active.size < this.#options.settings.maxConcurrentRuns) {
      const runId = this.#waiting.shift()
      if (runId === undefined) return
      this.#start(runId)
    }
  }

  #start(runId: string): void {
    const { settings, store } = this.#options
    const controller = new AbortController()
    const claimed = store.claim(runId).then((claim) => this.#own(claim, controller))
    const done = claimed
      .then((owned) => owned && this.#execute(owned, controller.signal))
      .catch((error: unknown) => {
        settings.logger.error('A run could not be executed', { runId, error })
      })
      .finally(() => {
        this.#active.delete(runId)
        this.#fillSlots()
      })
    const journal = claimed.then(
      (owned) => owned?.journal,
      () => undefined,
    )
    this.#active.set(runId, { controller, journal, done })
  }

  #own(claim: ClaimedRun | undefined, controller: AbortController): OwnedRun | undefined {
    if (claim === undefined) return undefined
    const { runId, epoch, status } = claim.run
    const journal = this.#options.commits.journal({
      runId,
      epoch,
      onLost: (reason) => {
        controller.abort(reason)
      },
    })
    if (status === 'CANCELLING') {
      controller.abort(new TuttiError('CANCELLED', `Run ${runId} was cancelled`))
    }
    return { claim, journal }
  }

  #execute({ claim, journal }: OwnedRun, signal: AbortSignal): Promise<void> {
    const { ensembles, settings } = this.#options
    const { clock, logger } = settings
    const ensemble = ensembles.get(claim.run.ensemble)
    return executeRun(claim, { ensemble, journal, signal, clock, logger })
  }

  async #cancelWaiting(run: RunRecord): Promise<'CANCELLED'> {
    const { store, settings } = this.#options
    const at = this.#waiting.indexOf(run.runId)
    if (at !== -1) this.#waiting.splice(at, 1)
    const owned = this.#own(await store.claim(run.runId), new AbortController())
    if (owned !== undefined) {
      const { journal } = owned
      journal.emit(this.#cancelling())
      endRun(run, { journal, clock: settings.clock, status: 'CANCELLED' })
      await journal.flush()
    }
    return 'CANCELLED'
  }

  #cancelling(): { type: 'run_cancelling'; requestedAt: string; mode: 'abort' } {
    const requestedAt = isoNow(this.#options.settings.clock)
    return { type: 'run_cancelling', requestedAt, mode: 'abort' }
  }
}

interface OwnedRun {
  readonly claim: ClaimedRun
  readonly journal: DurableJournal
}
