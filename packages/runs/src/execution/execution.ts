/**
 * One claimed run in this process: from the steps that earlier owners left to its end, or until it is
 * given up.
 *
 *   claim ─▶ engine ─┬─▶ ended
 *      commands ─▶   ├─▶ waits for a person ─▶ parked
 *                    ├─▶ handed over: nothing in flight, everything durable
 *                    └─▶ lost: somebody else has it
 *
 * X1 What an earlier owner has done is not done again: the engine goes on from the steps it left.
 * X2 A run whose ensemble is gone, or no longer fits, ends FAILED with the reason; it is never stuck. So
 *    does one whose steps cannot be read, and one that again and again loses its owner without getting any
 *    further, before its steps are read.
 * X3 An owner that lost its claim stops its work and writes nothing more.
 * X4 A run that was asked to end, and cannot go on, is CANCELLED; what was completed stays.
 * X5 A run that does nothing but wait for a person for a while is parked: it holds no process, and its time
 *    limit is kept by the store. One that cannot be parked, because a tool asks from inside a call that must
 *    not be repeated, stays in memory.
 * X6 A run that is handed over begins nothing; what is in flight ends, and is durable, before others get it.
 * X7 A command is applied once, and its answer is durable together with its effect, or after it.
 * X9 A run that waits for a person is marked as waiting in the store as soon as its review is durable, and
 *    takes no place. It continues at once when it is decided, for a moment beyond the limit if need be.
 * X8 A run whose events cannot be kept is given up as lost, and fails when that happens again and again.
 */
import { setImmediate } from 'node:timers/promises'

import { sleep, TuttiError, type Clock, type Logger, type ToolMetrics } from '@tutti/core'

import { boundedJournal } from '../commit/bounded-journal.ts'
import { endRun } from './end-run.ts'
import { field } from '../record-fields.ts'
import { SUSPECT_LOSSES } from './suspects.ts'

import type { DurableJournal } from '../commit/group-commit.ts'
import type { ClaimedRun, Release, RunQueue } from '../ports/run-queue.ts'
import type { CommandAnswer, PendingCommand } from '../ports/command-queue.ts'
import type { TaskRecord } from '../run-record.ts'
import { narrowedBudget } from '@tutti/ensemble'

import type {
  Ensemble,
  MemoryStore,
  ModelCatalog,
  Prices,
  ReflectionStore,
  RunHandle,
  RunJournal,
  RunProfiles,
  RunStep,
  TextLimits,
} from '@tutti/ensemble'

/** What a run is executed with. */
export interface ExecutionOptions {
  /** Builds the ensemble of the run. Throws when it is no longer registered, or no longer fits the request. */
  readonly ensemble: () => Ensemble
  readonly queue: Pick<RunQueue, 'release' | 'markWaiting'>
  /** Reads what earlier owners need not have repeated, in order. Rejects when it cannot be read. */
  readonly steps: () => Promise<readonly RunStep[]>
  /** The tasks of the run as they are kept. */
  readonly tasks?: () => Promise<readonly TaskRecord[]>
  /** Makes the journal of the run; `onLost` is told when it may write nothing more. */
  readonly journal: (onLost: (reason: TuttiError) => void) => DurableJournal
  readonly models: ModelCatalog | undefined
  /** Profiles that directives may apply. */
  readonly profiles?: RunProfiles | undefined
  readonly prices: Prices | undefined
  /** Bytes of one event. @default Infinity */
  readonly maxEventBytes?: number
  /** Bytes of all events and steps that this process writes. @default Infinity */
  readonly maxStoredRunBytes?: number
  /** Sizes that its inputs and texts may have. */
  readonly textLimits?: TextLimits | undefined
  /** Where its tasks remember. */
  readonly memories?: MemoryStore | undefined
  /** Where its tasks learn. */
  readonly reflections?: ReflectionStore | undefined
  /** Where its tool calls are counted. */
  readonly toolMetrics?: ToolMetrics | undefined
  /** Told how long a model call waited for its turn under a rate limit, in milliseconds. */
  readonly onRateLimitWait?: ((waitedMs: number) => void) | undefined
  /** Called when the run leaves its place because it waits for a person. */
  readonly onPlaceLeft?: (() => void) | undefined
  /** How long a run waits for a person before it is parked, in milliseconds. */
  readonly parkAfterMs: number
  /** How often in a row the run may lose its owner without getting further. */
  readonly maxLostOwners: number
  readonly clock: Clock
  readonly logger: Logger
}

/** How long a run that is let go may take to write what has happened, in milliseconds. */
const LAST_WRITE_MS = 1_000

/** Delay before the mark of a waiting run is written again, in milliseconds. */
const MARK_RETRY_MS = 1_000

/** How an execution ended. */
export type ExecutionEnd = 'ended' | 'ready' | 'parked' | 'lost'

/** A run that is being executed. */
export class Execution {
  readonly runId: string
  readonly epoch: number
  /** When it began, by the clock of this process. */
  readonly claimedAt: number
  /** Whether the run may have killed its earlier owners. */
  readonly isSuspect: boolean
  /** Resolves when this process has nothing more to do with the run. Never rejects. */
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
  /** Reason why the run may write only its end. */
  #tooLarge: TuttiError | undefined
  /** Stops the engine of a run that is too large. */
  readonly #failing = new AbortController()
  #stopParkTimer: (() => void) | undefined
  /** Whether the run waits for a person. */
  #waits = false
  /** Whether the store has it marked as waiting. */
  #isMarked = false
  #isMarking = false
  #givingUp: Promise<void> | undefined
  #over!: (end: ExecutionEnd) => void

  constructor(claim: ClaimedRun, options: ExecutionOptions) {
    this.#claim = claim
    this.#options = options
    this.runId = claim.run.runId
    this.epoch = claim.run.epoch
    this.claimedAt = options.clock.now()
    this.isSuspect = claim.lostOwners >= SUSPECT_LOSSES
    this.over = new Promise((resolve) => {
      this.#over = resolve
    })
    this.#journal = options.journal((reason) => {
      this.#controller.abort(reason)
      if (reason.code === 'FENCED') {
        options.logger.warn('The lease of a run was lost', { runId: this.runId })
      }
      // What cannot be kept is tried again by the next owner, but not for ever.
      if (reason.code === 'STORE_UNAVAILABLE') this.#givingUp ??= this.#release({ kind: 'lost' })
    })
    this.#work = this.#execute()
  }

  /** Tasks of the run that run now, delegated ones included. */
  get activeTasks(): number {
    const { tasks = [] } = this.#handle?.snapshot() ?? {}
    return tasks.filter(({ phase }) => phase === 'running').length
  }

  /**
   * Applies a command; resolves with the answer when it is durable, with undefined when this process gives no answer:
   * the store does when the run ends, or the next owner.
   */
  take(pending: PendingCommand): Promise<CommandAnswer | undefined> {
    const known = this.#answers.get(pending.id)
    if (known !== undefined) return known
    const answering = this.#answer(pending)
    this.#answers.set(pending.id, answering)
    return answering
  }

  /** Whether the run takes a place: it does not wait for a person. */
  get takesPlace(): boolean {
    return !this.#isMarked
  }

  /** Gives the run up for others as soon as nothing is in flight; resolves when it is given up. */
  handOver(): Promise<void> {
    this.#givingUp ??= this.#giveUp(() => ({ kind: 'ready' }))
    return this.#givingUp
  }

  /**
   * Gives the run up at once: what is in flight is lost, what has happened stays. Resolves when the work has
   * stopped.
   */
  async letGo(reason: TuttiError): Promise<void> {
    const { clock } = this.#options
    const patience = new AbortController()
    await Promise.race([
      this.#journal.flush().catch(() => undefined),
      sleep(clock, LAST_WRITE_MS, patience.signal),
    ])
    patience.abort()
    this.#stop(reason)
    this.#givingUp = this.#release({ kind: 'ready' })
    await this.#givingUp
    await this.#work
  }

  /** Stops the work on a run that somebody else has. */
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
      if (this.#tooLarge !== undefined) throw this.#tooLarge
      await this.#journal.flush()
    } catch (thrown) {
      const error = this.#tooLarge ?? TuttiError.from(thrown, 'ENGINE_FAILED')
      if (this.#controller.signal.aborted) {
        if (this.#givingUp === undefined) this.#over('lost')
        return
      }
      logger.error('Run could not go on', { runId: this.runId, error })
      await this.#endWith(error)
    } finally {
      this.#started.resolve()
      this.#stopParkTimer?.()
    }
    if (!this.#controller.signal.aborted) this.#over('ended')
    else if (this.#givingUp === undefined) this.#over('lost')
  }

  /** Reads the steps, unless the run has cost too many processes already, and starts the engine. */
  async #begin(): Promise<RunHandle> {
    const { maxLostOwners, steps } = this.#options
    const { lostOwners } = this.#claim
    if (lostOwners > maxLostOwners) {
      throw new TuttiError(
        'PROCESS_LOST',
        `The process that executed the run died, or lost it, ${lostOwners} times in a row`,
      )
    }
    this.#steps = await steps()
    this.#controller.signal.throwIfAborted()
    return this.#start(this.#steps)
  }

  #start(steps: readonly RunStep[]): RunHandle {
    const { models, prices, clock, logger } = this.#options
    const { profiles, memories, reflections, textLimits } = this.#options
    const { toolMetrics, onRateLimitWait } = this.#options
    const { run } = this.#claim
    const { options = {}, budget, traceparent, tracestate, origin } = run.request ?? {}
    const { verbose, toolLogTruncateLength } = options
    const ensemble = this.#options.ensemble()
    return ensemble.start(run.inputs, {
      ...field('traceparent', traceparent),
      ...field('tracestate', tracestate),
      ...field('request', origin),
      ...field(
        'budget',
        budget === undefined ? undefined : narrowedBudget(ensemble, budget, { prices, logger }),
      ),
      runId: run.runId,
      // The engine takes an abort for a cancel; nothing of it is written, as the journal takes nothing then.
      signal: AbortSignal.any([this.#controller.signal, this.#failing.signal]),
      journal: this.#boundedJournal(),
      clock,
      logger,
      onWaiting: () => {
        this.#parkSoon()
      },
      onWaitingChange: (isWaiting) => {
        this.#waits = isWaiting
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
      ...field('onRateLimitWait', onRateLimitWait),
      ...(steps.length === 0 ? {} : { resume: { steps, epoch: run.epoch } }),
    })
  }

  /** The journal for the engine, which stops when it writes more than it may. */
  #boundedJournal(): RunJournal {
    const { maxEventBytes = Infinity, maxStoredRunBytes = Infinity } = this.#options
    const onExceeded = (reason: TuttiError): void => {
      this.#tooLarge = reason
      // Not inside the call of the engine that wrote.
      queueMicrotask(() => {
        this.#failing.abort(reason)
      })
    }
    const { runId } = this
    return boundedJournal(this.#journal, { runId, maxEventBytes, maxStoredRunBytes, onExceeded })
  }

  async #endWith(error: TuttiError): Promise<void> {
    const { clock, logger, tasks } = this.#options
    try {
      const kept = (await tasks?.()) ?? []
      endRun(
        // The steps of a run that is too large are not those that it has now.
        { run: this.#claim.run, steps: this.#tooLarge === undefined ? this.#steps : undefined },
        { journal: this.#journal, clock, error, tasks: kept },
      )
      await this.#journal.flush()
    } catch (lost) {
      logger.error('The end of a run could not be kept', { runId: this.runId, error: lost })
    }
  }

  /** Writes to the store whether the run waits, until the store knows. */
  async #mark(): Promise<void> {
    if (this.#isMarking) return
    this.#isMarking = true
    const { queue, clock, logger, onPlaceLeft } = this.#options
    const { signal } = this.#controller
    while (this.#waits !== this.#isMarked && !signal.aborted && !this.#isOver) {
      try {
        // The review is durable before the run is said to wait for it.
        if (this.#waits) await this.#journal.flush()
        const waits = this.#waits
        if (waits === this.#isMarked) break
        await queue.markWaiting({ runId: this.runId, epoch: this.epoch }, waits)
        this.#isMarked = waits
        if (waits) onPlaceLeft?.()
      } catch (error) {
        if (signal.aborted) break
        logger.warn('Failed to mark a run as waiting', { runId: this.runId, error })
        await sleep(clock, MARK_RETRY_MS, signal)
      }
    }
    this.#isMarking = false
  }

  #parkSoon(): void {
    const { clock, parkAfterMs } = this.#options
    this.#stopParkTimer?.()
    this.#stopParkTimer = clock.after(parkAfterMs, () => {
      if (this.#givingUp !== undefined || this.#waitsForMs() <= parkAfterMs) return
      this.#givingUp = this.#giveUp(() => this.#parking())
    })
  }

  /** Time until the first gate is over; 0 when the run does not only wait. */
  #waitsForMs(): number {
    const snapshot = this.#handle?.snapshot()
    if (snapshot?.status !== 'WAITING_REVIEW') return 0
    return Math.min(...snapshot.reviews.map(({ timeoutMs }) => timeoutMs))
  }

  #parking(): Release {
    const leftMs = this.#waitsForMs()
    if (leftMs === 0) return { kind: 'ready' }
    return leftMs === Infinity ? { kind: 'parked' } : { kind: 'parked', wakeInMs: leftMs }
  }

  async #giveUp(how: () => Release): Promise<void> {
    try {
      await this.#started.promise
      // A run that cannot start ends by itself.
      if (this.#handle === undefined) return
      await this.#handle.drain()
      await this.#settle()
      // A run that came to its end while it was waited for is not given up.
      if (this.#isOver) return
      const release = how()
      this.#stop(new TuttiError('INTERRUPTED', `Run ${this.runId} is given up`))
      await this.#release(release)
    } catch (error) {
      this.#options.logger.info('Run was let go', { runId: this.runId, error })
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
    const { queue, logger } = this.#options
    try {
      const state = await queue.release({ runId: this.runId, epoch: this.epoch }, how)
      this.#over(state === 'fenced' ? 'lost' : state)
    } catch (error) {
      // Its lease will be over soon, and others take it then.
      logger.warn('Run could not be given up', { runId: this.runId, error })
      this.#over('lost')
    }
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
