/**
 * Executes the runs of this process in turn: a bounded number at a time, the others wait in order.
 *
 *   enqueue ─▶ waiting ─▶ claim ─▶ executeRun ─▶ next
 *
 * Q1 At most `maxConcurrentRuns` execute at once; waiting runs start in the order they were enqueued.
 * Q2 A cancelled run that waits ends at once, as nothing runs that could be let finish; one that executes
 *    ends when its work has stopped.
 * Q3 A run that was being cancelled when its process died is cancelled: at once, or in mode `boundary`
 *    when the tasks have finished that ran.
 * Q4 A run that is let go keeps all that happened before, and nothing of what its end then looks like.
 */
import { isoNow, sleep, TuttiError } from '@tutti/core'

import { endRun, executeRun, type Execution } from './execute-run.ts'

import type { DurableJournal, GroupCommit } from './group-commit.ts'
import type { ResolvedRunServiceOptions } from './options.ts'
import type { ClaimedRun, RunStore } from './ports/run-store.ts'
import type { RunRecord } from './run-record.ts'
import type { Ensemble, RunStep } from '@tutti/ensemble'
import type { CancelMode } from '@tutti/protocol'

/** What an executor works with. */
export interface RunExecutorOptions {
  readonly store: RunStore
  readonly commits: GroupCommit
  readonly ensembles: ReadonlyMap<string, Ensemble>
  readonly settings: ResolvedRunServiceOptions
}

/** A run that has a slot. */
interface ActiveRun {
  /** Resolves when it is claimed; with undefined when it had ended already. */
  readonly started: Promise<Execution | undefined>
  /** Resolves when it is over, in whatever way. */
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

  /**
   * Cancels a run that has not ended; resolves when the wish is durable, with undefined when the run
   * came to its end, or left this process, before.
   */
  async cancel(run: RunRecord, mode: CancelMode): Promise<'CANCELLING' | 'CANCELLED' | undefined> {
    const active = this.#active.get(run.runId)
    if (active === undefined) return this.#cancelWaiting(run)
    const execution = await active.started
    if (execution?.handle?.cancel({ mode }) === true) {
      await execution.journal.flush()
      return 'CANCELLING'
    }
    await active.done
    return undefined
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
    await Promise.all([...this.#active.values()].map(({ started }) => letGo(started)))
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
    const started = store.claim(runId).then((claim) => claim && this.#execute(claim))
    const done = started
      .then((execution) => execution?.ended)
      .catch((error: unknown) => {
        settings.logger.error('A run could not be executed', { runId, error })
      })
      .finally(() => {
        this.#active.delete(runId)
        this.#fillSlots()
      })
    this.#active.set(runId, { started, done })
  }

  #execute(claim: ClaimedRun): Execution {
    const { ensembles, settings } = this.#options
    const { clock, logger } = settings
    const controller = new AbortController()
    const journal = this.#journal(claim, (reason) => {
      controller.abort(reason)
    })
    const ensemble = ensembles.get(claim.run.ensemble)
    return executeRun(claim, { ensemble, journal, letGo: controller.signal, clock, logger })
  }

  #journal(
    { run: { runId, epoch } }: ClaimedRun,
    onLost: (reason: TuttiError) => void,
  ): DurableJournal {
    return this.#options.commits.journal({ runId, epoch, onLost })
  }

  async #cancelWaiting(run: RunRecord): Promise<'CANCELLED' | undefined> {
    const { store, settings } = this.#options
    const at = this.#waiting.indexOf(run.runId)
    if (at !== -1) this.#waiting.splice(at, 1)
    const claim = await store.claim(run.runId)
    if (claim === undefined) return undefined
    const journal = this.#journal(claim, () => undefined)
    const mode = 'abort'
    const step: RunStep = { kind: 'cancel_asked', mode, runMs: claim.steps.at(-1)?.runMs ?? 0 }
    const requestedAt = isoNow(settings.clock)
    journal.emit({ type: 'run_cancelling', requestedAt, mode }, step)
    if (claim.steps.length === 0) endRun(claim, { journal, clock: settings.clock })
    await journal.flush()
    // What began is ended by the engine, which tells of every task that will not run.
    if (claim.steps.length > 0) {
      await this.#execute({ run: claim.run, steps: [...claim.steps, step] }).ended
    }
    return 'CANCELLED'
  }
}

/** Keeps what has happened so far, then takes no more of it. */
async function letGo(started: Promise<Execution | undefined>): Promise<void> {
  const execution = await started.catch(() => undefined)
  await execution?.journal.flush().catch(() => undefined)
  execution?.journal.detach(new TuttiError('INTERRUPTED', 'This process is shutting down'))
}
