/**
 * Executes runs in this process: as many at a time as its slots and the limit over all processes allow.
 *
 *   notification, poll, end of a run ─▶ claim due runs ─▶ Execution ─▶ slot is free ─▶ claim …
 *
 * RUNS-Q1 At most `maxRunsPerProcess` execute here, and `maxConcurrentRuns` over all processes; queued runs start
 *    in the order of submission. A run that waits for a person or another agent takes no slot.
 * RUNS-Q2 A cancelled unowned run ends at once, regardless of the limits, after the compensations of its handlers. A process
 *    that executes no runs leaves these to others.
 * RUNS-Q3 A run that was being cancelled when its process died is cancelled: at once, or in mode `boundary`
 *    when its running tasks have finished.
 * RUNS-Q4 Releasing a run retains its history, but not its provisional end state.
 * RUNS-Q5 Leases are renewed as long as the process lives; a run whose lease was lost is stopped at once. A process
 *    without runs has a longer lease, and renews it rarely.
 * RUNS-Q9 When the lease of this process ends before it could be renewed, by the clock of the process, all of its runs
 *    are stopped, and stream and call nothing after that.
 * RUNS-Q11 If the end of the lease is noticed on time, the process lived and the store did not answer: the losses of its
 *    runs are excused when the store answers again. A process that was stopped, or blocked by a run, notices it too late.
 * RUNS-Q6 A run that the store assigns to this process, and that does not execute here, is released as lost.
 * RUNS-Q7 A run of an ensemble that this process does not know is left to other processes for ten minutes. If the
 *    store is not shared, it is claimed at once.
 * RUNS-Q8 One suspect (`suspects.ts`) at a time executes here, until it has ended or has run for
 *    {@link SETTLED_AFTER_MS}.
 * RUNS-Q10 A process with a free slot polls for due runs. The more of them there are, the less often each polls, so that
 *    all together poll a few times a second.
 */
import { setImmediate } from 'node:timers/promises'

import { TuttiError, type Logger } from '@tutti/core'
import { sleep } from '@tutti/core/internal'

import { listClaimKeys, toWholeCode } from '../domain/claim-key.ts'
import { reportActivity, type ExecutionEnd } from '../settings/activity.ts'
import { CommandReader } from './command-reader.ts'
import { every } from './every.ts'
import { idleLeaseMs, nextPollMs } from '../domain/fleet-pace.ts'
import { LeaseTimer } from './lease-timer.ts'
import { Execution } from './execution.ts'
import { toExecutionOptions, type ExecutionParts } from './execution-options.ts'
import { SETTLED_AFTER_MS } from '../domain/suspects.ts'
import { eventSize } from '../feed/event-size.ts'

import type {
  ClaimedRun,
  HeldRun,
  KnownEnsembles,
  LeaseOwner,
  LostRun,
  ProcessCode,
} from '../ports/run-queue.ts'
import type { Claimant } from '../ports/run-store.ts'
import type { CommandAnswer, PendingCommand } from '../ports/command-queue.ts'
import type { ByteBudget } from '../load/byte-budget.ts'
import type { ChosenCode } from '../domain/run-code.ts'

/** The parts of a run service that an executor uses. */
export interface RunExecutorOptions extends ExecutionParts {
  /** Id of the build of this process. */
  readonly build: string
  /** Counts the runs that execute. */
  readonly budget: ByteBudget
}

/** Number of renewals within the duration of one lease. */
const RENEWALS_PER_LEASE = 3

/** Maximum delay until a process notices the end of its lease, in milliseconds, unless it is stopped or blocked. */
const PUNCTUAL_MS = 500

/** Part of an idle lease after which it is renewed, unless a poll has renewed it before. */
const IDLE_RENEWAL = 2 / 3

/**
 * Time that a run waits for a process that knows its ensemble before it fails in one that does not, in milliseconds.
 * Longer than it takes to replace all processes by those of another version.
 */
const OTHERS_AFTER_MS = 600_000

/** The ensembles of a process that takes no runs. */
const NOTHING: KnownEnsembles = { ensembles: [], othersAfterMs: Infinity }

/** A slot for a run that is being created. */
export interface ReservedSlot {
  readonly claimant: Claimant
  /** Executes the run that the claimant owns. */
  execute(claim: ClaimedRun): void
  /** Frees the slot. The run that took it is executing by then. */
  release(): void
}

/** The runs that this process executes. */
export class RunExecutor {
  /** Id under which this process has its lease. */
  readonly owner: string
  readonly #options: RunExecutorOptions
  readonly #leaseOwner: LeaseOwner
  readonly #logger: Logger
  readonly #known: KnownEnsembles
  readonly #code: ProcessCode
  readonly #active = new Map<string, Execution>()
  readonly #commands: CommandReader
  readonly #stops: (() => void)[] = []
  /** Numbers of claims started and ended so far. */
  readonly #claims = { begun: 0, ended: 0 }
  readonly #lease: LeaseTimer
  /** Time at which the lease of this process without runs is renewed, by `Clock.elapsed`. */
  #renewIdleAt = -Infinity
  /** Whether the store may have runs of this process: it had some at the last renewal, or a claim or a run was lost since. */
  #mayHold = false
  /** The renewal in progress of a lease without runs. */
  #renewingIdle: Promise<void> | undefined
  #claiming: Promise<void> | undefined
  /** Lost runs whose losses will be excused. */
  #excusable: LostRun[] = []
  /** Number of slots reserved for runs under creation. */
  #reserved = 0
  #isWakePending = false
  /** Whether another process is woken if this one has no free slot. */
  #passesOn = false
  #isStarted = false
  #isStopped = false

  constructor(options: RunExecutorOptions) {
    const { storage, settings } = options
    this.#options = options
    this.#logger = settings.logger
    this.#commands = new CommandReader({
      commands: storage.commands,
      deliver: (pending) => void this.deliver(pending),
    })
    this.owner = `${storage.processName}-${crypto.randomUUID()}`
    const leaseMs = storage.isShared ? settings.leaseMs : Infinity
    this.#leaseOwner = { owner: this.owner, leaseMs }
    const onEnd = (lateMs: number): void => this.#loseAll(lateMs <= PUNCTUAL_MS)
    this.#lease = new LeaseTimer({ clock: settings.clock, leaseMs, onEnd })
    const { codes } = options.ensembles
    this.#code = { build: options.build, codes }
    this.#known = {
      ensembles: listClaimKeys(codes),
      code: this.#code,
      othersAfterMs: storage.isShared ? OTHERS_AFTER_MS : 0,
    }
  }

  /** Returns the whole code (RUNS-Z20) of an ensemble of this process. */
  wholeCodeOf(ensemble: string): ChosenCode {
    const { build, codes } = this.#code
    return { build, code: toWholeCode(ensemble, codes), isFixed: false }
  }

  /** Number of runs that execute here. */
  get running(): number {
    return this.#active.size
  }

  /** Whether the run executes here. */
  executes(runId: string): boolean {
    return this.#active.has(runId)
  }

  /** Number of tasks that run here, including delegated tasks. */
  get activeTasks(): number {
    return [...this.#active.values()].reduce((sum, { activeTasks }) => sum + activeTasks, 0)
  }

  /** Starts to renew leases and, in a process that executes runs, to claim them. */
  start(): void {
    const { storage, settings } = this.#options
    const { clock, pollMs, leaseMs } = settings
    if (storage.isShared) {
      const onError = (error: unknown): void => {
        this.#logger.warn('Failed to renew leases', { error })
      }
      const everyMs = leaseMs / RENEWALS_PER_LEASE
      this.#stops.push(every({ clock, everyMs, task: () => this.#renewInTime(), onError }))
    }
    if (!settings.executes) return
    this.#isStarted = true
    const everyMs = (): number => nextPollMs(pollMs, storage.queue.fleet.pollers)
    const onError = (): undefined => undefined
    this.#stops.push(every({ clock, everyMs, task: () => this.#poll(), onError }))
    this.wake()
  }

  /** Claims due runs. */
  wake(): void {
    if (!this.#isStarted || this.#isStopped) return
    if (this.#claiming !== undefined) {
      this.#isWakePending = true
      return
    }
    this.#claiming = this.#claimDue().finally(() => {
      this.#claiming = undefined
      if (!this.#isWakePending) return
      this.#isWakePending = false
      this.wake()
    })
  }

  /** Claims due runs, because the store has chosen this process. If it has no free slot, another one is woken. */
  onReady(): void {
    this.#passesOn = this.#options.storage.isShared
    this.wake()
  }

  /**
   * Reserves a slot for a run that is being created. Undefined if none is free, and while the lease of this process without
   * runs is renewed: a renewal that is stored after the claim would set a later end.
   */
  reserveSlot(): ReservedSlot | undefined {
    const { settings } = this.#options
    if (this.#freeSlots <= 0 || this.#renewingIdle !== undefined) return undefined
    const claimant = {
      ...this.#leaseNow,
      maxConcurrentRuns: settings.maxConcurrentRuns,
      hasFreeSlot: this.#freeSlots > 1,
      code: this.#code,
    }
    const sentAt = settings.clock.elapsed()
    let isTaken = false
    this.#reserved += 1
    // A renewal meanwhile must not release the run, which does not execute yet.
    this.#claims.begun += 1
    return {
      claimant,
      execute: (claim) => {
        isTaken = true
        this.#lease.extend(sentAt)
        this.execute(claim)
      },
      release: () => {
        this.#reserved -= 1
        this.#claims.ended += 1
        if (isTaken) return
        this.#renewSoon()
        // A claim meanwhile left this slot free.
        this.wake()
      },
    }
  }

  /** Delivers a command to its run. Resolves with undefined when the run does not execute here or gives no answer. */
  async deliver(pending: PendingCommand): Promise<CommandAnswer | undefined> {
    return this.#active.get(pending.runId)?.take(pending)
  }

  /** Applies the pending commands of the runs that execute here: of one run, or of all. */
  async takeCommands(runId?: string): Promise<void> {
    const runIds = runId === undefined ? [...this.#active.keys()] : [runId]
    const here = runIds.filter((id) => this.#active.has(id))
    await this.#commands.read(here)
  }

  /**
   * Executes an unowned run, regardless of the limits. Resolves with the end of the execution, or with undefined when
   * another process owns the run.
   */
  async executeNow(runId: string): Promise<ExecutionEnd | undefined> {
    const { queue } = this.#options.storage
    const sentAt = this.#options.settings.clock.elapsed()
    const claim = await this.#counted(queue.claim(runId, this.#leaseOwner))
    if (claim !== undefined) {
      this.#lease.extend(sentAt)
      return this.execute(claim).over
    }
    await this.#claiming
    return this.#active.get(runId)?.over
  }

  /** Extends the leases of the runs that execute here, and stops those that another process owns. */
  async renew(): Promise<void> {
    const before = [...this.#active.values()]
    const claims = this.#claims.begun
    const isQuiet = claims === this.#claims.ended
    const sentAt = this.#options.settings.clock.elapsed()
    const leaseOwner = this.#leaseNow
    this.#options.storage.dispatcher.heartbeat(before)
    const held = await this.#options.storage.queue.renew({
      ...leaseOwner,
      hasFreeSlot: this.#freeSlots > 0,
      known: this.#takesRuns ? this.#known : NOTHING,
    })
    this.#lease.extend(sentAt)
    this.#mayHold = held.length > 0
    this.#restIdle(leaseOwner, sentAt)
    const tokens = new Map(held.map(({ runId, token }) => [runId, token]))
    for (const execution of before) {
      const { runId, token } = execution
      if (this.#active.get(runId) !== execution || tokens.get(runId) === token) continue
      this.#lose(execution)
    }
    if (isQuiet && claims === this.#claims.begun) await this.#releaseOrphans(held)
    await this.#excuseLosses()
  }

  /** Renews the lease, unless this process has no run and the lease lasts. */
  async #renewInTime(): Promise<void> {
    if (this.#active.size > 0) return this.renew()
    // A claim sets the end of the lease as well, and a renewal that is stored after it might set a later one.
    const isClaiming = this.#claiming !== undefined || this.#reserved > 0
    if (isClaiming || this.#options.settings.clock.elapsed() < this.#renewIdleAt) return
    this.#renewingIdle = this.renew().finally(() => {
      this.#renewingIdle = undefined
    })
    return this.#renewingIdle
  }

  /** The lease for the next claim or renewal. */
  get #leaseNow(): Required<LeaseOwner> {
    const { storage, settings } = this.#options
    const { leaseMs } = this.#leaseOwner
    const isIdle = this.#active.size === 0 && storage.isShared
    const idle = isIdle ? idleLeaseMs(settings, storage.queue.fleet.processes) : leaseMs
    return { ...this.#leaseOwner, idleLeaseMs: idle }
  }

  /** If the store knows no run of this process, renews the lease only when most of it has passed. */
  #restIdle({ idleLeaseMs: lastsMs }: Required<LeaseOwner>, sentAt: number): void {
    const isIdle = this.#active.size === 0 && !this.#mayHold
    this.#renewIdleAt = isIdle ? sentAt + lastsMs * IDLE_RENEWAL : -Infinity
  }

  #lose(execution: Execution): void {
    const { runId } = execution
    execution.lose(new TuttiError('FENCED', `Run ${runId} was taken over by another owner`))
  }

  /** Stops all runs at the end of the lease. Their losses are excused if this process was able to renew it. */
  #loseAll(isExcused: boolean): void {
    const active = [...this.#active.values()]
    if (active.length > 0) this.#renewSoon()
    if (isExcused) {
      this.#excusable.push(...active.map(({ runId, token, epoch }) => ({ runId, token, epoch })))
    }
    for (const execution of active) {
      const { runId } = execution
      this.#logger.warn('The lease ended before it could be renewed; stopping a run', { runId })
      execution.lose(
        new TuttiError('FENCED', `The lease of run ${runId} ended before it could be renewed`),
      )
    }
  }

  /** Makes the next renewal due. It releases runs whose claim was lost, such as by an error of its reply. */
  #renewSoon(): void {
    this.#mayHold = true
    this.#renewIdleAt = -Infinity
  }

  async #excuseLosses(): Promise<void> {
    const lost = this.#excusable
    if (lost.length === 0) return
    this.#excusable = []
    try {
      await this.#options.storage.queue.excuse(lost)
    } catch (error) {
      this.#excusable.unshift(...lost)
      throw error
    }
  }

  /** Releases runs that the store assigns to this process but that do not execute here: the reply to their claim was lost. */
  async #releaseOrphans(held: readonly HeldRun[]): Promise<void> {
    for (const run of held) {
      if (this.#active.has(run.runId)) continue
      this.#logger.warn('Releasing a run whose claim was never received', { runId: run.runId })
      await this.#options.storage.queue.release(run, { kind: 'lost' })
    }
  }

  /** Counts claims while they are made. */
  async #counted<T>(claim: Promise<T>): Promise<T> {
    this.#claims.begun += 1
    try {
      return await claim
    } catch (error) {
      this.#renewSoon()
      throw error
    } finally {
      this.#claims.ended += 1
    }
  }

  /**
   * Stops claiming. Runs of a shared store are handed over as soon as they have no call in flight; others may finish.
   * After `drainTimeoutMs` the remaining runs are released.
   */
  async stop(drainTimeoutMs: number): Promise<void> {
    this.#isStopped = true
    const { storage, settings } = this.#options
    storage.dispatcher.stop()
    // Others no longer count on this process, and runs that it releases wake others.
    if (storage.isShared) this.renew().catch(() => undefined)
    // A run that is claimed from now on is handed over as well.
    if (storage.isShared) for (const execution of this.#active.values()) void execution.handOver()
    await this.#claiming
    // Runs that are being created execute, and are handed over, before they are released.
    while (this.#reserved > 0) await setImmediate()
    const timer = new AbortController()
    const ended = this.#allOver().finally(() => {
      timer.abort()
    })
    await Promise.race([ended, sleep(settings.clock, drainTimeoutMs, timer.signal)])
    const reason = new TuttiError('INTERRUPTED', 'This process is shutting down')
    await Promise.all([...this.#active.values()].map((execution) => execution.release(reason)))
    await ended
    for (const stop of this.#stops) stop()
    this.#lease.stop()
  }

  async #allOver(): Promise<void> {
    await Promise.all([...this.#active.values()].map(({ over }) => over))
  }

  /** Claims due runs. Waits for a claim in progress, because each claim counts the free slots. */
  async #poll(): Promise<void> {
    this.wake()
    await this.#claiming
  }

  async #claimDue(): Promise<void> {
    const { storage, settings } = this.#options
    const { maxConcurrentRuns } = settings
    try {
      // Runs submitted during this turn of the event loop are claimed together, with one write.
      await setImmediate()
      await this.#renewingIdle?.catch(() => undefined)
      for (;;) {
        // The claim that follows serves all calls of `wake` so far.
        this.#isWakePending = false
        const passesOn = this.#passesOn
        this.#passesOn = false
        const wanted = Math.max(this.#freeSlots, 0)
        if ((wanted === 0 && !passesOn) || !storage.isAvailable) return
        const takesSuspect = !this.#watchesSuspect
        const leaseOwner = this.#leaseNow
        const request = {
          ...leaseOwner,
          wanted,
          maxConcurrentRuns,
          known: this.#known,
          takesSuspect,
        }
        const sentAt = settings.clock.elapsed()
        const claims = await this.#counted(storage.dispatcher.take(request))
        if (claims === undefined) return
        if (claims.length > 0) this.#lease.extend(sentAt)
        else this.#restIdle(leaseOwner, sentAt)
        for (const claim of claims) this.execute(claim)
        if (claims.length < wanted) return
      }
    } catch (error) {
      this.#logger.warn('Failed to claim due runs', { error })
    }
  }

  /** Whether this process claims runs, as soon as it has a free slot. Otherwise its build does not live here. */
  get #takesRuns(): boolean {
    return this.#isStarted && !this.#isStopped
  }

  /** Number of runs that this process can claim now. */
  get #freeSlots(): number {
    if (!this.#takesRuns) return 0
    let free = this.#options.settings.maxRunsPerProcess - this.#reserved
    for (const { takesSlot } of this.#active.values()) if (takesSlot) free -= 1
    return free
  }

  /** RUNS-Q8: whether a suspect executes here that may still kill this process. */
  get #watchesSuspect(): boolean {
    const since = this.#options.settings.clock.elapsed() - SETTLED_AFTER_MS
    return [...this.#active.values()].some(
      ({ isSuspect, claimedAt }) => isSuspect && claimedAt > since,
    )
  }

  /** Executes a run that this process owns. */
  execute(claim: ClaimedRun): Execution {
    const { run, lostOwners } = claim
    const { runId } = run
    const { settings } = this.#options
    // A run whose lease expired may be claimed again by the process that had it.
    const earlier = this.#active.get(runId)
    if (earlier !== undefined) {
      this.#lose(earlier)
      // Reported before the new claim: listeners track one execution of a run.
      reportActivity(settings, { kind: 'released', runId, end: 'lost' })
    }
    reportActivity(settings, { kind: 'claimed', run, lostOwners })
    const onSlotFreed = (): void => {
      this.wake()
    }
    const options = toExecutionOptions(this.#options, { claim, onSlotFreed })
    const execution = new Execution(claim, options)
    this.#active.set(runId, execution)
    const held = this.#options.budget.hold(run.actor ?? '', eventSize(run))
    void execution.over.then((end) => {
      held.release()
      if (this.#active.get(runId) === execution) {
        this.#active.delete(runId)
        reportActivity(settings, { kind: 'released', runId, end })
      }
      if (!this.#active.has(runId)) this.#options.storage.dispatcher.return(runId)
      this.wake()
    })
    if (this.#isStopped) void execution.handOver()
    return execution
  }
}
