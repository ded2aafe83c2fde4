/**
 * Durable runs: takes them in, has them executed, here or in other processes, and lets anyone watch and
 * steer.
 *
 *   submit ─▶ store ─▶ executor ─▶ group commit ─▶ feed ─▶ readers
 *   send ─▶ commands ─▶ the owner of the run
 *
 * It leaves what a run does to the engine, whose turn it is to the executor, and where things are kept
 * to the store.
 *
 * RUNS-S1 A submit is answered after the run is durable; from then on it is executed, also after a crash.
 * RUNS-S2 At most `maxConcurrentRuns` execute and `maxQueuedRuns` wait, over all processes; one more is refused.
 * RUNS-S3 `start` takes up every run that an earlier process left unfinished, oldest first.
 * RUNS-S4 A cancel is answered when it is durable; the run is CANCELLED only when its work has stopped.
 * RUNS-S5 `close` lets running runs end for a while, or hands them to other processes; what is left goes on from
 *    its last step when it is taken up.
 * RUNS-S6 The same submission under the same idempotency key is one run; another one under it is refused.
 * RUNS-S7 While the store cannot be reached submits are refused and runs wait; both go on when it is back.
 * RUNS-S8 Runs that have ended are deleted, the oldest first, beyond a number and an age.
 */
import { TuttiError } from '@tutti/core'
import type { Ensemble, RunProfiles } from '@tutti/ensemble'

import { reportActivity, reportExecuted } from './execution/activity.ts'
import { RunCommands } from './commands/run-commands.ts'
import { EventBus, type EventListener } from './feed/event-bus.ts'
import { RunEventFeed } from './feed/event-feed.ts'
import { every } from './execution/every.ts'
import { followEvents, type EventBatches, type FollowRunOptions } from './feed/follow-events.ts'
import { GroupCommit } from './commit/group-commit.ts'
import { newRunOf, queuedEvent, type RunSubmission } from './execution/new-run.ts'
import {
  resolveRunServiceOptions,
  type ResolvedRunServiceOptions,
  type RunServiceOptions,
} from './options.ts'
import { field } from './record-fields.ts'
import { storeAway } from './refusals.ts'
import { RunEnsembles } from './execution/run-ensembles.ts'
import { RunExecutor } from './execution/run-executor.ts'

import type {
  LifecycleState,
  LoggedRunEvent,
  ReplyTo,
  RunCommandKind,
  RunCommandOf,
} from '@tutti/protocol'
import type { EventQuery } from './ports/event-log.ts'
import type { QueueLoad, StoreFigures } from './ports/run-queue.ts'
import type {
  ChangedRunsPage,
  ChangedRunsQuery,
  Quota,
  RunListPage,
  RunQuery,
} from './ports/run-store.ts'
import type { AuditLog } from './ports/audit-log.ts'
import type { SecretStore } from './ports/secret-store.ts'
import type { StoreNotification, RunStorage } from './ports/run-storage.ts'
import type { WebhookOutbox } from './ports/webhook-outbox.ts'
import type { NewRun, ReviewRecord, RunRecord, TaskRecord } from './run-record.ts'

/** A run with its tasks. */
export interface RunWithTasks {
  readonly run: RunRecord
  readonly tasks: readonly TaskRecord[]
}

/** Whether the service accepts runs, and why not. */
export type ServiceState = 'READY' | 'DRAINING' | 'STORE_UNAVAILABLE'

/** How often ended runs are deleted, and runs that nobody tells of are looked at, in milliseconds. */
const HOUSEKEEPING_MS = 60_000

/** Statuses of runs that wait for a process, or have one. */
const WAITING = ['ACCEPTED', 'RUNNING', 'CANCELLING'] as const

/** More runs than can wait, as SQL takes no Infinity. */
const MOST_WAITING = Number.MAX_SAFE_INTEGER

/** Size of the open reviews that are read together, in bytes. */
const REVIEW_PAGE_BYTES = 4_000_000

/** Runs deleted at a time: small enough that nothing else waits. */
const DELETE_BATCH = 100

/** Durable runs of a set of ensembles over one store. */
export class RunService {
  readonly #storage: RunStorage
  readonly #ensembles: RunEnsembles
  readonly #settings: ResolvedRunServiceOptions
  readonly #bus: EventBus
  readonly #feed: RunEventFeed
  readonly #commits: GroupCommit
  readonly #executor: RunExecutor
  readonly #commands: RunCommands
  readonly #stops: (() => void)[] = []
  readonly #closingTasks: (() => Promise<void>)[] = []
  #closing: Promise<void> | undefined
  #hasStarted = false
  #hasStopped = false

  /**
   * @throws {TypeError} when there is no ensemble or two have the same name.
   * @throws {RangeError} naming every option that is out of range.
   */
  constructor(
    storage: RunStorage,
    ensembles: readonly Ensemble[],
    options: RunServiceOptions = {},
  ) {
    this.#storage = storage
    this.#settings = resolveRunServiceOptions(options)
    const { logger, clock, tickMs, reviews } = this.#settings
    this.#ensembles = new RunEnsembles(ensembles, this.#settings, reviews)
    this.#bus = new EventBus((error) => {
      logger.error('A reader of run events threw', { error })
    })
    const feed = new RunEventFeed({
      events: storage.events,
      bus: this.#bus,
      onError: (error) => {
        logger.warn('Failed to read events of other processes', { error })
      },
    })
    this.#feed = feed
    this.#commits = new GroupCommit({
      store: storage.runs,
      onWritten: (runId, events) => {
        reportExecuted(this.#settings, runId, events)
        feed.offer(runId, events)
      },
      clock,
      tickMs,
    })
    const parts = { storage, ensembles: this.#ensembles, settings: this.#settings }
    this.#executor = new RunExecutor({ ...parts, commits: this.#commits })
    this.#commands = new RunCommands({ ...parts, executor: this.#executor, feed })
  }

  /** The ensembles that runs may name; the first is the default. */
  get ensembles(): readonly Ensemble[] {
    return this.#ensembles.all
  }

  /** The profiles that directives may apply, by name. */
  get profiles(): RunProfiles {
    return this.#settings.profiles
  }

  /** Runs that execute at the same time over all processes, at most. */
  get maxConcurrentRuns(): number {
    return this.#settings.maxConcurrentRuns
  }

  /** Phase of the service: STARTING until `start` resolves, STOPPED once `close` has. */
  get phase(): LifecycleState {
    if (this.#closing !== undefined) return this.#hasStopped ? 'STOPPED' : 'DRAINING'
    return this.#hasStarted ? 'READY' : 'STARTING'
  }

  /** Whether runs are accepted, and why not. They are accepted while the service starts. */
  get state(): ServiceState {
    if (this.#closing !== undefined) return 'DRAINING'
    return this.#storage.isAvailable ? 'READY' : 'STORE_UNAVAILABLE'
  }

  /** Whether the store can be reached, as far as is known. */
  get isStoreAvailable(): boolean {
    return this.#storage.isAvailable
  }

  /** Runs that execute in this process. */
  get running(): number {
    return this.#executor.running
  }

  /** Tasks that run in this process, delegated ones included. */
  get activeTasks(): number {
    return this.#executor.activeTasks
  }

  /** How many runs execute, wait for their turn and wait for a person, over all processes. */
  load(): Promise<QueueLoad> {
    return this.#storage.queue.load()
  }

  /** What waits in the store, over all processes. */
  figures(): Promise<StoreFigures> {
    return this.#storage.queue.figures()
  }

  /**
   * Begins to execute runs and to listen to other processes. Resolves with the ids of the runs that an
   * earlier process left, when the store is one that only this process has.
   */
  async start(): Promise<readonly string[]> {
    const storage = this.#storage
    const { logger, clock } = this.#settings
    const left = storage.isShared ? [] : await this.#takeUp()
    await this.#feed.start()
    this.#stops.push(
      storage.listen((notification) => {
        this.#onNotification(notification)
      }),
      every({
        clock,
        everyMs: HOUSEKEEPING_MS,
        task: () => this.#deleteEndedRuns(),
        onError: (error) => {
          logger.warn('Failed to delete ended runs', { error })
        },
      }),
    )
    this.#executor.start()
    this.#hasStarted = true
    return left
  }

  /**
   * Takes a run in. The same submission under the same idempotency key gives the run that it made before.
   *
   * @throws {TuttiError} INVALID_ENSEMBLE for an unknown name; BAD_REQUEST, INVALID_TOOL, INVALID_MODEL and
   * INVALID_TASK_OVERRIDE for what it asks that does not fit; INPUT_MISSING when template variables
   * have no value, with their names in `details.missing`; RUN_EXISTS when the id is taken;
   * IDEMPOTENCY_CONFLICT when the key was used for another submission; CONCURRENCY_LIMIT when too many
   * wait; DRAINING when no more are taken; STORE_UNAVAILABLE.
   */
  async submit(request: RunSubmission): Promise<RunRecord> {
    const run = newRunOf(request, { ...this.#settings, ensembles: this.#ensembles })
    this.#assertReady()
    const created = await this.#create(run, request.quota)
    if (created.kind === 'repeated') return created.run
    const { submission: _, ...kept } = run
    reportActivity(this.#settings, { kind: 'accepted', run: kept })
    this.#feed.offer(run.runId, [created.event])
    this.#executor.wake()
    return { ...kept, status: 'ACCEPTED', completedTasks: 0, epoch: 0, lastSeq: 0 }
  }

  /** A run without its tasks, or undefined. */
  record(runId: string): Promise<RunRecord | undefined> {
    return this.#storage.runs.get(runId)
  }

  /** A run with its tasks, or undefined. */
  async get(runId: string): Promise<RunWithTasks | undefined> {
    const run = await this.#storage.runs.get(runId)
    return run === undefined ? undefined : { run, tasks: await this.#storage.runs.tasks(runId) }
  }

  /** Deletes a run with its events, if it has ended. */
  async delete(runId: string): ReturnType<RunStorage['runs']['delete']> {
    const end = await this.#storage.runs.delete(runId)
    // Readers that follow it must learn that nothing more will come.
    if (end === 'deleted') await this.#feed.catchUp()
    return end
  }

  /** Who did what, and what is to be kept of it. */
  get audit(): AuditLog {
    return this.#storage.audit
  }

  /** Random secrets that every process on the store shares. */
  get secrets(): SecretStore {
    return this.#storage.secrets
  }

  /** What webhooks are to be told. */
  get outbox(): WebhookOutbox {
    return this.#storage.outbox
  }

  /** Tells `listener` that a webhook may have something to be told, until stopped. */
  listenToOutbox(listener: () => void): () => void {
    return this.#storage.listen(({ kind }) => {
      if (kind === 'delivery' || kind === 'missed') listener()
    })
  }

  /** Runs, newest first, each with what it has used so far and what it is at. */
  list(query: RunQuery): Promise<RunListPage> {
    return this.#storage.runs.list(query)
  }

  /** Returns a page of runs, the one whose status changed last first. */
  listByChange(query: ChangedRunsQuery): Promise<ChangedRunsPage> {
    return this.#storage.runs.listByChange(query)
  }

  /** Reviews that wait for a decision, of one run or of all, in the order in which they opened. */
  openReviews({ runId }: { readonly runId?: string } = {}): Promise<readonly ReviewRecord[]> {
    const about = runId === undefined ? {} : { runId }
    return this.#storage.runs.reviews({ open: true, maxBytes: REVIEW_PAGE_BYTES, ...about })
  }

  /** Counts all open reviews, of one run or of all. */
  countOpenReviews({ runId }: { readonly runId?: string } = {}): Promise<number> {
    return this.#storage.runs.countReviews({
      open: true,
      ...(runId === undefined ? {} : { runId }),
    })
  }

  /** A review, also one that is closed; undefined when there is none of that id. */
  async review(reviewId: string): Promise<ReviewRecord | undefined> {
    const [review] = await this.#storage.runs.reviews({ reviewId })
    return review
  }

  /** A run's events from `from` on, first from the log and then live, until its end. */
  follow(options: FollowRunOptions): EventBatches {
    const { events, runs } = this.#storage
    const find = (runId: string) => runs.get(runId)
    return followEvents({ events, bus: this.#bus, find }, options)
  }

  /** Events of a run as they are in the log now. */
  readEvents(query: EventQuery): Promise<readonly LoggedRunEvent[]> {
    return this.#storage.events.read(query)
  }

  /** Tells `listener` of the events of every run, each after it is durable, until stopped. */
  listenToAll(listener: EventListener): () => void {
    return this.#bus.listenToAll(listener)
  }

  /**
   * Sends a command to a run, whichever process executes it; resolves with the reply when the effect is durable.
   *
   * A cancel aborts what runs, or in mode `boundary` lets it finish; the run is CANCELLED when its work has stopped.
   * For the other kinds see the methods of `RunHandle`. Of several decisions of a review the first counts.
   *
   * @throws {TuttiError} RUN_NOT_FOUND, RUN_COMPLETED; INVALID_MODEL; REVIEW_NOT_FOUND, REVIEW_RESOLVED; BAD_REQUEST
   * naming every problem; NOT_CONFIRMED when the owner does not confirm the command in time.
   */
  send<K extends RunCommandKind>(runId: string, command: RunCommandOf<K>): Promise<ReplyTo<K>> {
    return this.#commands.send(runId, command)
  }

  /**
   * Takes and starts no more runs. Those of a store that other processes share are handed over as soon as
   * nothing is in flight; others may end. After `drainTimeoutMs` the rest is let go, and the store closed.
   * A second call waits for the first.
   */
  close({ drainTimeoutMs }: { readonly drainTimeoutMs: number }): Promise<void> {
    this.#closing ??= this.#close(drainTimeoutMs)
    return this.#closing
  }

  /** Has `task` done when runs have stopped, and before the store is closed. Its errors are its own. */
  beforeStoreCloses(task: () => Promise<void>): void {
    this.#closingTasks.push(task)
  }

  async #close(drainTimeoutMs: number): Promise<void> {
    await this.#executor.stop(drainTimeoutMs)
    await Promise.allSettled(this.#closingTasks.map((task) => task()))
    for (const stop of this.#stops) stop()
    this.#commits.stop()
    await this.#storage[Symbol.asyncDispose]()
    this.#hasStopped = true
  }

  #onNotification(notification: StoreNotification): void {
    switch (notification.kind) {
      case 'events':
        this.#feed.onWritten(notification.runId, notification)
        return
      case 'ready':
        this.#executor.wake()
        return
      case 'signal':
        this.#look(() => this.#executor.takeCommands(notification.runId))
        return
      case 'answer':
        this.#commands.onAnswer(notification.signalId)
        return
      case 'missed':
        this.#commands.onMissed()
        this.#executor.wake()
        this.#look(() => this.#executor.takeCommands())
        this.#look(() => this.#feed.catchUp())
        return
      case 'availability':
        if (!notification.isAvailable) return
        this.#commits.retry()
        this.#look(() => this.#executor.renew())
    }
  }

  #look(task: () => Promise<void>): void {
    task().catch((error: unknown) => {
      this.#settings.logger.warn('Failed to handle a notification of the store', { error })
    })
  }

  /** Makes the runs ready that an earlier process had; gives all that wait, the oldest first. */
  async #takeUp(): Promise<readonly string[]> {
    await this.#storage.queue.reclaimAll()
    const { runs } = await this.list({ statuses: WAITING, limit: MOST_WAITING, offset: 0 })
    return runs.map(({ runId }) => runId).toReversed()
  }

  async #deleteEndedRuns(): Promise<void> {
    const { maxRetainedRuns: keep, maxRetainedAgeMs: maxAgeMs } = this.#settings
    if (keep === Infinity && maxAgeMs === Infinity) return this.#afterHousekeeping()
    const age = maxAgeMs === Infinity ? {} : { maxAgeMs }
    const { runs } = this.#storage
    let deleted: readonly string[]
    do {
      deleted = await runs.deleteEnded({ keep, ...age, limit: DELETE_BATCH })
    } while (deleted.length === DELETE_BATCH)
    await this.#afterHousekeeping()
  }

  async #afterHousekeeping(): Promise<void> {
    await this.#feed.catchUp()
    await this.#executor.takeCommands()
  }

  #create(run: NewRun, quota: Quota | undefined): ReturnType<RunStorage['runs']['create']> {
    const { maxConcurrentRuns, maxQueuedRuns, clock, redact } = this.#settings
    return this.#storage.runs.create(run, {
      maxUnfinishedRuns: maxConcurrentRuns + maxQueuedRuns,
      ...field('quota', quota),
      firstEvent: redact(queuedEvent(run, clock)),
    })
  }

  #assertReady(): void {
    const { state } = this
    if (state === 'DRAINING') {
      throw new TuttiError('DRAINING', 'This server is shutting down and takes no new runs', {
        retryable: true,
      })
    }
    if (state === 'STORE_UNAVAILABLE') throw storeAway()
  }
}
