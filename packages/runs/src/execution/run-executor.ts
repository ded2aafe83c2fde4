/**
 * Executes runs in this process: as many at a time as it has places and the limit over all processes
 * allows.
 *
 *   notice, poll, end of a run ─▶ claim what is due ─▶ Execution ─▶ place is free ─▶ claim …
 *
 * Q1 At most `maxRunsPerProcess` execute here, and `maxConcurrentRuns` over all processes; runs that wait
 *    start in the order in which they came. A run that waits for a person takes no place.
 * Q2 A cancelled run that nobody executes ends at once, whatever the limits.
 * Q3 A run that was being cancelled when its process died is cancelled: at once, or in mode `boundary`
 *    when the tasks have finished that ran.
 * Q4 A run that is let go keeps all that happened before, and nothing of what its end then looks like.
 * Q5 Leases are renewed as long as the process lives; a run whose lease was lost is stopped at once.
 * Q6 A run that the store says is here, and is not, is given up as lost.
 * Q7 A run of an ensemble that this process does not know is left to others for ten minutes; of a store that
 *    only this process has, not at all.
 * Q8 Of the runs that may have killed their process, one executes here at a time, until it has ended or
 *    stayed for {@link SETTLED_AFTER_MS}.
 */
import { setImmediate } from 'node:timers/promises'

import { sleep, TuttiError, type Logger } from '@tutti/core'

import { tellActivity } from './activity.ts'
import { every } from './every.ts'
import { Execution, type ExecutionEnd, type ExecutionOptions } from './execution.ts'
import { capturing, redactedJournal } from '../commit/redacted-journal.ts'
import { SETTLED_AFTER_MS } from './suspects.ts'

import type { GroupCommit } from '../commit/group-commit.ts'
import type { ResolvedRunServiceOptions } from '../options.ts'
import type { ClaimedRun, HeldRun, Holder, KnownEnsembles } from '../ports/run-queue.ts'
import type { RunStorage } from '../ports/run-storage.ts'
import type { CommandAnswer, PendingCommand } from '../ports/command-queue.ts'
import type { RunEnsembles } from './run-ensembles.ts'

/** What an executor works with. */
export interface RunExecutorOptions {
  readonly storage: RunStorage
  readonly commits: GroupCommit
  readonly ensembles: RunEnsembles
  readonly settings: ResolvedRunServiceOptions
}

/** How often a lease is renewed before it is over. */
const RENEWALS_PER_LEASE = 3

/**
 * How long a run waits for a process that knows its ensemble before it fails in one that does not: longer
 * than it takes to replace all processes by those of another version.
 */
const OTHERS_AFTER_MS = 600_000

/** The runs that this process executes. */
export class RunExecutor {
  readonly #options: RunExecutorOptions
  readonly #holder: Holder
  readonly #logger: Logger
  readonly #known: KnownEnsembles
  readonly #active = new Map<string, Execution>()
  readonly #stops: (() => void)[] = []
  /** Claims that were made so far. */
  readonly #claims = { begun: 0, ended: 0 }
  #claiming: Promise<void> | undefined
  #isAskedAgain = false
  #isStarted = false
  #isStopped = false

  constructor(options: RunExecutorOptions) {
    const { storage, settings } = options
    this.#options = options
    this.#logger = settings.logger
    const owner = `${process.pid}-${crypto.randomUUID()}`
    this.#holder = { owner, leaseMs: storage.isShared ? settings.leaseMs : Infinity }
    this.#known = {
      ensembles: options.ensembles.all.map(({ name }) => name),
      othersAfterMs: storage.isShared ? OTHERS_AFTER_MS : 0,
    }
  }

  /** How many execute here. */
  get running(): number {
    return this.#active.size
  }

  /** Tasks that run here, delegated ones included. */
  get activeTasks(): number {
    return [...this.#active.values()].reduce((sum, { activeTasks }) => sum + activeTasks, 0)
  }

  /** Begins to renew leases and, in a process that executes, to claim. */
  start(): void {
    const { storage, settings } = this.#options
    const { clock, pollMs, leaseMs } = settings
    if (storage.isShared) {
      const onError = (error: unknown): void => {
        this.#logger.warn('Could not renew the leases of runs', { error })
      }
      const everyMs = leaseMs / RENEWALS_PER_LEASE
      this.#stops.push(every({ clock, everyMs, task: () => this.renew(), onError }))
    }
    if (!settings.executes) return
    this.#isStarted = true
    this.#stops.push(
      every({ clock, everyMs: pollMs, task: () => this.#lookOnTime(), onError: () => undefined }),
    )
    this.wake()
  }

  /** Looks for runs that are due. */
  wake(): void {
    if (!this.#isStarted || this.#isStopped) return
    if (this.#claiming !== undefined) {
      this.#isAskedAgain = true
      return
    }
    this.#claiming = this.#look().finally(() => {
      this.#claiming = undefined
      if (!this.#isAskedAgain) return
      this.#isAskedAgain = false
      this.wake()
    })
  }

  /** Takes a command to its run; undefined when the run does not execute here, or gives no answer. */
  async deliver(pending: PendingCommand): Promise<CommandAnswer | undefined> {
    return this.#active.get(pending.runId)?.take(pending)
  }

  /** Looks for pending commands of the runs that execute here: of one, or of all. */
  async takeCommands(runId?: string): Promise<void> {
    const runIds = runId === undefined ? [...this.#active.keys()] : [runId]
    const here = runIds.filter((id) => this.#active.has(id))
    if (here.length === 0) return
    for (const pending of await this.#options.storage.commands.pending(here)) {
      void this.deliver(pending)
    }
  }

  /**
   * Executes a run that nobody has, whatever the limits; resolves with how that ended, undefined when
   * another process has it.
   */
  async executeNow(runId: string): Promise<ExecutionEnd | undefined> {
    const { queue } = this.#options.storage
    const claim = await this.#counted(queue.claim(runId, this.#holder))
    if (claim !== undefined) return this.#execute(claim).over
    await this.#claiming
    return this.#active.get(runId)?.over
  }

  /** Extends the leases of the runs that execute here, and stops those that others have. */
  async renew(): Promise<void> {
    const before = [...this.#active.values()]
    const claims = this.#claims.begun
    const isQuiet = claims === this.#claims.ended
    const held = await this.#options.storage.queue.renew(this.#holder)
    const epochs = new Map(held.map(({ runId, epoch }) => [runId, epoch]))
    for (const execution of before) {
      const { runId, epoch } = execution
      if (this.#active.get(runId) !== execution || epochs.get(runId) === epoch) continue
      this.#lose(execution)
    }
    if (isQuiet && claims === this.#claims.begun) await this.#giveUpStrays(held)
  }

  #lose(execution: Execution): void {
    const { runId } = execution
    execution.lose(new TuttiError('FENCED', `Run ${runId} was taken over by another owner`))
  }

  /** Gives up runs that the store says are here and are not: the answer to their claim was lost. */
  async #giveUpStrays(held: readonly HeldRun[]): Promise<void> {
    for (const run of held) {
      if (this.#active.has(run.runId)) continue
      this.#logger.warn('A run that was claimed did not arrive', { runId: run.runId })
      await this.#options.storage.queue.release(run, { kind: 'lost' })
    }
  }

  /** Counts claims while they are made. */
  async #counted<T>(claim: Promise<T>): Promise<T> {
    this.#claims.begun += 1
    try {
      return await claim
    } finally {
      this.#claims.ended += 1
    }
  }

  /**
   * Claims nothing more. Runs of a store that others share are handed over as soon as nothing is in
   * flight; others may come to their end. After `drainTimeoutMs` what is left is let go.
   */
  async stop(drainTimeoutMs: number): Promise<void> {
    this.#isStopped = true
    await this.#claiming
    const { storage, settings } = this.#options
    const patience = new AbortController()
    const ended = this.#allOver().finally(() => {
      patience.abort()
    })
    if (storage.isShared) for (const execution of this.#active.values()) void execution.handOver()
    await Promise.race([ended, sleep(settings.clock, drainTimeoutMs, patience.signal)])
    const reason = new TuttiError('INTERRUPTED', 'This process is shutting down')
    await Promise.all([...this.#active.values()].map((execution) => execution.letGo(reason)))
    await ended
    for (const stop of this.#stops) stop()
  }

  async #allOver(): Promise<void> {
    await Promise.all([...this.#active.values()].map(({ over }) => over))
  }

  /** Never beside another look: each counts the free places. */
  async #lookOnTime(): Promise<void> {
    this.wake()
    await this.#claiming
  }

  async #look(): Promise<void> {
    const { storage, settings } = this.#options
    const { maxRunsPerProcess, maxConcurrentRuns } = settings
    try {
      // What comes in during this turn of the event loop is claimed together, with one write.
      await setImmediate()
      for (;;) {
        // Whoever has asked so far is served by what follows.
        this.#isAskedAgain = false
        const wanted = maxRunsPerProcess - this.#placesTaken
        if (wanted <= 0 || this.#isStopped || !storage.isAvailable) return
        const takesSuspect = !this.#watchesSuspect
        const request = {
          ...this.#holder,
          wanted,
          maxConcurrentRuns,
          known: this.#known,
          takesSuspect,
        }
        const claims = await this.#counted(storage.queue.claimNext(request))
        for (const claim of claims) this.#execute(claim)
        if (claims.length < wanted) return
      }
    } catch (error) {
      this.#logger.warn('Could not look for runs', { error })
    }
  }

  get #placesTaken(): number {
    return [...this.#active.values()].filter(({ takesPlace }) => takesPlace).length
  }

  /** Q8: whether a suspect executes here of which it is not known yet whether it kills this process. */
  get #watchesSuspect(): boolean {
    const since = this.#options.settings.clock.now() - SETTLED_AFTER_MS
    return [...this.#active.values()].some(
      ({ isSuspect, claimedAt }) => isSuspect && claimedAt > since,
    )
  }

  #execute(claim: ClaimedRun): Execution {
    const { run, lostOwners } = claim
    const { runId } = run
    const { settings } = this.#options
    // A run whose lease was over may come back to the process that had it.
    const earlier = this.#active.get(runId)
    if (earlier !== undefined) {
      this.#lose(earlier)
      // Before what follows: whoever is told keeps one account of a run.
      tellActivity(settings, { kind: 'let_go', runId, end: 'lost' })
    }
    tellActivity(settings, { kind: 'claimed', run, lostOwners })
    const execution = new Execution(claim, this.#executionOptions(claim))
    this.#active.set(runId, execution)
    void execution.over.then((end) => {
      if (this.#active.get(runId) === execution) {
        this.#active.delete(runId)
        tellActivity(settings, { kind: 'let_go', runId, end })
      }
      this.wake()
    })
    if (this.#isStopped) void execution.handOver()
    return execution
  }

  #executionOptions({ run }: ClaimedRun): ExecutionOptions {
    const { runId, epoch, request } = run
    const { storage, commits, ensembles, settings } = this.#options
    const { models, prices, redact, parkAfterMs, maxLostOwners, clock, logger } = settings
    const { profiles, toolMetrics, maxEventBytes, maxStoredRunBytes } = settings
    const { maxInputBytes, maxTextBytes, maxRunTextBytes } = settings
    return {
      ensemble: () => ensembles.build(run),
      queue: storage.queue,
      steps: () => storage.runs.steps(runId, { maxBytes: maxStoredRunBytes }),
      tasks: () => storage.runs.tasks(runId),
      journal: (onLost) =>
        redactedJournal(
          commits.journal({ runId, epoch, onLost }),
          capturing(request?.options?.captureMode, redact),
        ),
      models,
      profiles,
      prices,
      maxEventBytes,
      maxStoredRunBytes,
      textLimits: { maxInputBytes, maxTextBytes, maxRunTextBytes },
      memories: storage.memories,
      reflections: storage.reflections,
      toolMetrics,
      onRateLimitWait: (waitedMs) => {
        tellActivity(settings, { kind: 'rate_limited', runId, waitedMs })
      },
      onPlaceLeft: () => {
        this.wake()
      },
      parkAfterMs,
      maxLostOwners,
      clock,
      logger,
    }
  }
}
