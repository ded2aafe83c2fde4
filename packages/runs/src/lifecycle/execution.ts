/**
 * Executes one claimed run in this process: from the steps that earlier owners stored to its end, or to its
 * release.
 *
 *   claim ─▶ engine ─┬─▶ ended
 *      commands ─▶   ├─▶ waits for a person ─▶ parked
 *                    ├─▶ handed over: nothing in flight, everything durable
 *                    └─▶ lost: another process owns it
 *
 * RUNS-X1 Completed steps of an earlier owner are not repeated: the engine resumes from them.
 * RUNS-X2 A run whose ensemble is no longer registered, or no longer fits, ends FAILED with the reason instead of
 *    staying stuck. So does a run whose steps cannot be read or are incomplete (RUNS-E8), and, before its steps are read, a run that repeatedly
 *    lost its owner without progress.
 * RUNS-X12 A run that had expired when it was claimed (RUNS-L18) begins nothing and ends FAILED with QUEUE_TIMEOUT, or
 *    CANCELLED if it was being cancelled.
 * RUNS-X3 An owner that lost its claim stops its work and writes nothing more.
 * RUNS-X4 A cancelled run that cannot continue ends CANCELLED; completed tasks are retained.
 * RUNS-X5 A run that has only waited for a person for a while is parked: no process owns it, and the store enforces its
 *    time limit. A run that cannot be parked, because a tool asks from inside a call that must not be repeated, stays
 *    in memory.
 * RUNS-X6 A run that is being handed over starts no work. Work in flight ends and becomes durable before the release.
 * RUNS-X7 A command is applied once, and its answer is durable together with its effect, or after it.
 * RUNS-X10 A run is released when the store is back, if it is unavailable. Only a process that shuts down does not wait.
 * RUNS-X9 A run that waits for a person is marked as waiting in the store as soon as its review is durable, and
 *    takes no slot. So is a run that only waits for agents of other processes, which may be runs of the same store. Both
 *    continue at once when they are decided or answered, briefly beyond the limit if necessary.
 * RUNS-X8 A run whose events cannot be stored, or whose steps cannot be read, because the store is unavailable, is
 *    released as lost, and fails when that happens repeatedly.
 * RUNS-X11 A run with an event or step that exceeds a limit, or that the store refuses, ends FAILED once, with the reason.
 *    What it stored before is retained.
 */
import { setImmediate } from 'node:timers/promises'

import { TuttiError, type Clock, type Logger, type ToolMetrics } from '@tutti/core'
import { sleep } from '@tutti/core/internal'

import { boundedJournal, type BoundedJournal } from '../commit/bounded-journal.ts'
import { assertStepsComplete } from './check-steps.ts'
import { endRun } from './end-run.ts'
import { field } from '../domain/field.ts'
import { buildClientTools } from '../request/client-tools.ts'
import { queueTimeout, runUnreadable } from '../domain/refusals.ts'
import { SUSPECT_LOSSES } from '../domain/suspects.ts'

import type { ExecutionEnd } from '../settings/activity.ts'
import type { DurableJournal } from '../commit/group-commit.ts'
import type { PendingWritesOptions } from '../commit/pending-writes.ts'
import type { ClaimedRun, Release, RunQueue, WaitsFor } from '../ports/run-queue.ts'
import type { CommandAnswer, PendingCommand } from '../ports/command-queue.ts'
import type { TaskRecord } from '../domain/run-record.ts'
import { narrowedBudget } from '@tutti/ensemble/internal'
import { isWaitingRunStatus } from '@tutti/protocol/internal'

import type { Ensemble, ModelCatalog, Prices, RunHandle, RunProfiles } from '@tutti/ensemble'
import type { MemoryStore, ReflectionStore } from '@tutti/ensemble/adapter'
import type { CreateCallbackUrl, RunStep, TextLimits } from '@tutti/ensemble/internal'

/** Parts and settings of one execution. */
export interface ExecutionOptions {
  /** Builds the ensemble of the run. Throws when it is no longer registered, or no longer fits the request. */
  readonly ensemble: () => Ensemble
  readonly queue: Pick<RunQueue, 'release' | 'markWaiting'>
  /** Reads the steps of earlier owners, in order. Rejects when they cannot be read. */
  readonly steps: () => Promise<readonly RunStep[]>
  /** Reads the stored tasks of the run. */
  readonly tasks?: () => Promise<readonly TaskRecord[]>
  /** Opens the journal of the run. */
  readonly journal: (callbacks: JournalCallbacks) => DurableJournal
  readonly models: ModelCatalog | undefined
  /** Profiles that directives may apply. */
  readonly profiles?: RunProfiles | undefined
  readonly prices: Prices | undefined
  /** Maximum size of one event, in bytes. @default Infinity */
  readonly maxEventBytes?: number
  /** Maximum size of all events and steps that this process writes, in bytes. @default Infinity */
  readonly maxStoredRunBytes?: number
  /** Maximum sizes of its inputs and texts. */
  readonly textLimits?: TextLimits | undefined
  /** Memories of its tasks. */
  readonly memories?: MemoryStore | undefined
  /** Reflections of its tasks. */
  readonly reflections?: ReflectionStore | undefined
  /** Counts its tool calls. */
  readonly toolMetrics?: ToolMetrics | undefined
  readonly callbackUrl?: CreateCallbackUrl | undefined
  /** Called with the time that a model call waited under a rate limit, in milliseconds. */
  readonly onRateLimitWait?: ((waitedMs: number) => void) | undefined
  /** Called when the run gives its slot back because it waits for a person. */
  readonly onSlotFreed?: (() => void) | undefined
  /** Time that a run waits for a person before it is parked, in milliseconds. */
  readonly parkAfterMs: number
  /** Maximum number of times in a row that the run may lose its owner without progress. */
  readonly maxLostOwners: number
  readonly clock: Clock
  readonly logger: Logger
}

/** Callbacks of the journal of a run, as in `PendingWritesOptions`. */
export type JournalCallbacks = Pick<PendingWritesOptions, 'onLost' | 'onRefused'>

/** Maximum time for the last write of a released run, in milliseconds. */
const LAST_WRITE_MS = 1_000

/** Delay before a release is tried again that found the store unavailable, in milliseconds. */
const RELEASE_RETRY_MS = 1_000

/** Delay before a failed mark of a waiting run is retried, in milliseconds. */
const MARK_RETRY_MS = 1_000

/** A run that is being executed. */
export class Execution {
  readonly runId: string
  /** The fencing token of the claim. */
  readonly token: string
  /** Number of claims of the run, with this one. */
  readonly epoch: number
  /** Time at which it started, by `Clock.elapsed`. */
  readonly claimedAt: number
  /** Whether the run may have killed its earlier owners. */
  readonly isSuspect: boolean
  /** Resolves when this process no longer owns the run. Never rejects. */
  readonly over: Promise<ExecutionEnd>
  readonly #claim: ClaimedRun
  readonly #options: ExecutionOptions
  readonly #journal: DurableJournal
  readonly #controller = new AbortController()
  readonly #answers = new Map<string, Promise<CommandAnswer | undefined>>()
  /** Resolves when the engine has started, or cannot. */
  readonly #started = Promise.withResolvers<void>()
  /** Resolves when the engine has stopped. */
  readonly #work: Promise<void>
  #steps: readonly RunStep[] | undefined
  #handle: RunHandle | undefined
  /** The journal of the engine. */
  #bounded: BoundedJournal | undefined
  /** Reason why the run may write only its end: a limit is exceeded, or the store refused a write. */
  #unstorable: TuttiError | undefined
  /** Stops the engine of a run that may write only its end. */
  readonly #failing = new AbortController()
  #stopParkTimer: (() => void) | undefined
  /** Whether the run waits for reviews, and whether for agents. */
  #waits = { reviews: false, agents: false }
  /** Mark of the run in the store, if it waits. */
  #marked: WaitsFor = 'nothing'
  #isMarking = false
  #releasing: Promise<void> | undefined
  #ending: Promise<void> | undefined
  /** Aborts when the process shuts down. */
  readonly #shuttingDown = new AbortController()
  #over!: (end: ExecutionEnd) => void

  constructor(claim: ClaimedRun, options: ExecutionOptions) {
    this.#claim = claim
    this.#options = options
    this.runId = claim.run.runId
    this.token = claim.token
    this.epoch = claim.run.epoch
    this.claimedAt = options.clock.elapsed()
    this.isSuspect = claim.lostOwners >= SUSPECT_LOSSES
    this.over = new Promise((resolve) => {
      this.#over = resolve
    })
    this.#journal = options.journal({
      onLost: (reason) => {
        this.#controller.abort(reason)
        if (reason.code === 'FENCED') {
          options.logger.warn('Lost the lease of a run; stopping', { runId: this.runId })
        }
        // The next owner tries again, a limited number of times.
        if (reason.code === 'STORE_UNAVAILABLE') this.#releasing ??= this.#release({ kind: 'lost' })
      },
      onRefused: (reason) => {
        this.#bounded?.refuse(reason)
      },
    })
    this.#work = this.#execute()
  }

  /** Number of running tasks of the run, including delegated tasks. */
  get activeTasks(): number {
    const { tasks = [] } = this.#handle?.snapshot() ?? {}
    return tasks.filter(({ phase }) => phase === 'running').length
  }

  /**
   * Applies a command. Resolves with the answer when it is durable, or with undefined when this process gives no answer,
   * because the store answers at the end of the run or the next owner does.
   */
  take(pending: PendingCommand): Promise<CommandAnswer | undefined> {
    const known = this.#answers.get(pending.id)
    if (known !== undefined) return known
    const answering = this.#answer(pending)
    this.#answers.set(pending.id, answering)
    return answering
  }

  /** Whether the run takes a slot: it does not wait for a person or another agent. */
  get takesSlot(): boolean {
    return this.#marked === 'nothing'
  }

  /** Hands the run over as soon as it has no call in flight. Resolves when it is released. */
  handOver(): Promise<void> {
    this.#releasing ??= this.#drainAndRelease(() => ({ kind: 'ready' }))
    return this.#releasing
  }

  /**
   * Releases the run at once: work in flight is lost, its history is retained. Resolves when the work has stopped.
   */
  async release(reason: TuttiError): Promise<void> {
    const { clock } = this.#options
    const timer = new AbortController()
    await Promise.race([
      this.#journal.flush().catch(() => undefined),
      sleep(clock, LAST_WRITE_MS, timer.signal),
    ])
    timer.abort()
    this.#stop(reason)
    this.#shuttingDown.abort()
    this.#releasing = this.#release({ kind: 'ready' })
    await this.#releasing
    await this.#work
  }

  /** Stops the work on a run that another process owns. */
  lose(reason: TuttiError): void {
    this.#stop(reason)
    this.#over('lost')
  }

  async #execute(): Promise<void> {
    const { logger } = this.#options
    try {
      const handle = await this.#begin()
      this.#handle = handle
      this.#started.resolve()
      for (const command of this.#claim.commands) void this.take(command)
      await handle.result
      if (this.#unstorable !== undefined) throw this.#unstorable
      await this.#journal.flush()
    } catch (thrown) {
      const error = this.#unstorable ?? TuttiError.from(thrown, 'ENGINE_FAILED')
      if (this.#controller.signal.aborted) {
        if (this.#releasing === undefined) this.#over('lost')
        return
      }
      if (this.#handle === undefined && isUnavailable(error)) {
        this.#stop(error)
        this.#releasing ??= this.#release({ kind: 'lost' })
        return
      }
      logger.error('Run cannot continue', { runId: this.runId, error })
      await this.#end(error)
    } finally {
      this.#started.resolve()
      this.#stopParkTimer?.()
    }
    if (!this.#controller.signal.aborted) this.#over('ended')
    else if (this.#releasing === undefined) this.#over('lost')
  }

  /** Reads the steps, unless the run has cost too many processes already, and starts the engine. */
  async #begin(): Promise<RunHandle> {
    const { maxLostOwners, steps } = this.#options
    const { run, lostOwners, isExpired = false } = this.#claim
    if (isExpired) throw queueTimeout(run)
    if (run.unreadable !== undefined) throw runUnreadable(this.runId, 'columns', run.unreadable)
    if (lostOwners > maxLostOwners) {
      throw new TuttiError(
        'PROCESS_LOST',
        `The process that executed the run died, or lost its lease, ${lostOwners} times in a row`,
      )
    }
    const known = await steps()
    assertStepsComplete(run, known)
    this.#steps = known
    this.#controller.signal.throwIfAborted()
    return this.#start(known)
  }

  #start(steps: readonly RunStep[]): RunHandle {
    const { models, prices, clock, logger } = this.#options
    const { profiles, memories, reflections, textLimits } = this.#options
    const { toolMetrics, callbackUrl, onRateLimitWait } = this.#options
    const { run } = this.#claim
    const {
      options = {},
      budget,
      traceparent,
      tracestate,
      origin,
      history,
      clientTools,
    } = run.request ?? {}
    const { verbose, toolLogTruncateLength } = options
    const ensemble = this.#options.ensemble()
    this.#bounded = this.#boundedJournal()
    return ensemble.start(run.inputs, {
      ...field('traceparent', traceparent),
      ...field('tracestate', tracestate),
      ...field('request', origin),
      ...field('history', history),
      ...(clientTools === undefined ? {} : { clientTools: buildClientTools(clientTools) }),
      ...field(
        'budget',
        budget === undefined ? undefined : narrowedBudget(ensemble, budget, { prices, logger }),
      ),
      runId: run.runId,
      // The engine treats an abort as a cancel, but the journal no longer accepts the events of that cancel.
      signal: AbortSignal.any([this.#controller.signal, this.#failing.signal]),
      journal: this.#bounded,
      clock,
      logger,
      onWaiting: () => {
        this.#parkSoon()
      },
      onWaitingChange: (isWaiting) => {
        this.#waits.reviews = isWaiting
        void this.#mark()
      },
      onAgentWaitChange: (isWaiting) => {
        this.#waits.agents = isWaiting
        void this.#mark()
      },
      ...field('verbose', verbose),
      ...field('toolLogTruncateLength', toolLogTruncateLength),
      ...(models === undefined ? {} : { models }),
      ...(profiles === undefined ? {} : { profiles }),
      ...(prices === undefined ? {} : { prices }),
      ...field('textLimits', textLimits),
      ...field('memories', memories),
      ...field('reflections', reflections),
      ...field('toolMetrics', toolMetrics),
      ...field('callbackUrl', callbackUrl),
      ...field('onRateLimitWait', onRateLimitWait),
      ...(steps.length === 0
        ? {}
        : { resume: { steps, epoch: run.epoch, ...field('replay', run.parent?.replay) } }),
    })
  }

  /** Returns the journal for the engine, which aborts the run when an entry cannot be stored. */
  #boundedJournal(): BoundedJournal {
    const { maxEventBytes = Infinity, maxStoredRunBytes = Infinity } = this.#options
    const onExceeded = (reason: TuttiError): void => {
      this.#unstorable = reason
      // Asynchronously, so as not to abort inside the engine call that wrote.
      queueMicrotask(() => {
        this.#failing.abort(reason)
      })
    }
    const { runId } = this
    return boundedJournal(this.#journal, { runId, maxEventBytes, maxStoredRunBytes, onExceeded })
  }

  /**
   * Stores the end of a run that cannot continue. If the store refuses it, or its tasks cannot be read, the end has
   * neither tasks nor usage. If that cannot be stored either, the run is released, so that it does not stay here.
   */
  #end(error: TuttiError): Promise<void> {
    this.#ending ??= this.#writeEnd(error)
    return this.#ending
  }

  async #writeEnd(error: TuttiError): Promise<void> {
    const { clock, logger, tasks } = this.#options
    const { run } = this.#claim
    const write = async (steps: readonly RunStep[] | undefined, ends: readonly TaskRecord[]) => {
      endRun({ run, steps }, { journal: this.#journal, clock, error, tasks: ends })
      await this.#journal.flush()
    }
    try {
      // The steps of a run whose entries were refused are outdated.
      await write(this.#unstorable === undefined ? this.#steps : undefined, (await tasks?.()) ?? [])
    } catch (first) {
      if (this.#controller.signal.aborted) return
      logger.error('Failed to store the end of a run', { runId: this.runId, error: first })
      try {
        await write(undefined, [])
      } catch (second) {
        if (this.#controller.signal.aborted) return
        logger.error('Failed to store the end of a run', { runId: this.runId, error: second })
        this.#stop(TuttiError.from(second, 'ENGINE_FAILED'))
        this.#releasing ??= this.#release({ kind: 'lost' })
      }
    }
  }

  /** Writes to the store whether the run waits, until the store knows. */
  async #mark(): Promise<void> {
    if (this.#isMarking) return
    this.#isMarking = true
    const { queue, clock, logger, onSlotFreed } = this.#options
    const { signal } = this.#controller
    while (this.#waitsFor !== this.#marked && !signal.aborted && !this.#isOver) {
      try {
        // The review must be durable before the run is marked as waiting.
        if (this.#waitsFor === 'reviews') await this.#journal.flush()
        const waitsFor = this.#waitsFor
        if (waitsFor === this.#marked) break
        await queue.markWaiting({ runId: this.runId, token: this.token }, waitsFor)
        this.#marked = waitsFor
        if (waitsFor !== 'nothing') onSlotFreed?.()
      } catch (error) {
        if (signal.aborted) break
        logger.warn('Failed to mark a run as waiting', { runId: this.runId, error })
        await sleep(clock, MARK_RETRY_MS, signal)
      }
    }
    this.#isMarking = false
  }

  get #waitsFor(): WaitsFor {
    const { reviews, agents } = this.#waits
    return reviews ? 'reviews' : agents ? 'agents' : 'nothing'
  }

  #parkSoon(): void {
    const { clock, parkAfterMs } = this.#options
    this.#stopParkTimer?.()
    this.#stopParkTimer = clock.after(parkAfterMs, () => {
      if (this.#releasing !== undefined || this.#waitsForMs() <= parkAfterMs) return
      this.#releasing = this.#drainAndRelease(() => this.#toParking())
    })
  }

  /** Time until the first review expires, in milliseconds; 0 when the run does not only wait. */
  #waitsForMs(): number {
    const snapshot = this.#handle?.snapshot()
    if (snapshot === undefined || !isWaitingRunStatus(snapshot.status)) return 0
    return Math.min(...snapshot.reviews.map(({ timeoutMs }) => timeoutMs))
  }

  #toParking(): Release {
    const leftMs = this.#waitsForMs()
    if (leftMs === 0) return { kind: 'ready' }
    const { lastWriteNo } = this.#journal
    return { kind: 'parked', lastWriteNo, ...(leftMs === Infinity ? {} : { wakeInMs: leftMs }) }
  }

  async #drainAndRelease(how: () => Release): Promise<void> {
    try {
      await this.#started.promise
      // A run that cannot start ends on its own.
      if (this.#handle === undefined) return
      await this.#handle.drain()
      await this.#settle()
      // The run may have ended meanwhile; then there is nothing to release.
      if (this.#isOver) return
      const release = how()
      this.#stop(new TuttiError('INTERRUPTED', `Run ${this.runId} is being released`))
      await this.#release(release)
    } catch (error) {
      if (this.#unstorable !== undefined && !this.#controller.signal.aborted) {
        await this.#end(this.#unstorable)
        this.#stop(this.#unstorable)
        this.#over('ended')
        return
      }
      this.#options.logger.info('Lost a run while releasing it', { runId: this.runId, error })
      this.#over('lost')
    }
  }

  /** Waits until what follows from the last durable write has been written as well. */
  async #settle(): Promise<void> {
    do {
      await this.#journal.flush()
      await setImmediate()
    } while (!this.#journal.isFlushed)
  }

  get #isOver(): boolean {
    const status = this.#handle?.snapshot().status
    return status === 'COMPLETED' || status === 'FAILED' || status === 'CANCELLED'
  }

  #stop(reason: TuttiError): void {
    this.#stopParkTimer?.()
    this.#journal.detach(reason)
    this.#controller.abort(reason)
  }

  async #release(how: Release): Promise<void> {
    const { queue, clock, logger } = this.#options
    const { signal } = this.#shuttingDown
    for (let attempt = 1; ; attempt += 1) {
      try {
        const state = await queue.release({ runId: this.runId, token: this.token }, how)
        this.#over(state === 'fenced' ? 'lost' : state)
        return
      } catch (error) {
        if (attempt === 1) logger.warn('Failed to release run', { runId: this.runId, error })
        if (!isUnavailable(error) || signal.aborted) break
        await sleep(clock, RELEASE_RETRY_MS, signal)
        // The release of the shutdown has begun.
        if (signal.aborted) return
      }
    }
    // Another process claims it when its lease expires, or the next one at its start.
    this.#over('lost')
  }

  async #answer({ id: commandId, command }: PendingCommand): Promise<CommandAnswer | undefined> {
    try {
      await this.#started.promise
      if (this.#handle === undefined) return undefined
      const value = await this.#handle.send(command)
      const answer: CommandAnswer = { commandId, ok: true, value }
      this.#journal.answer(answer)
      await this.#journal.flush()
      return answer
    } catch (thrown) {
      if (this.#controller.signal.aborted || this.#isOver) return undefined
      const { code, message, retryable, details } = TuttiError.from(thrown, 'ENGINE_FAILED')
      const error = { code, message, retryable, ...field('details', details) }
      const answer: CommandAnswer = { commandId, ok: false, error }
      this.#journal.answer(answer)
      await this.#journal.flush().catch(() => undefined)
      return answer
    }
  }
}

function isUnavailable(error: unknown): boolean {
  return TuttiError.isInstance(error) && error.code === 'STORE_UNAVAILABLE'
}
