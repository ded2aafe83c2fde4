/**
 * Durable runs: accepts them, executes them here or in other processes, and lets callers follow and steer them.
 *
 *   submit ─▶ store ─▶ executor ─▶ group commit ─▶ feed ─▶ readers
 *   send ─▶ commands ─▶ the owner of the run
 *
 * The engine defines what a run does, the executor which runs execute, and the store how they are persisted.
 *
 * RUNS-S1 A submit resolves when the run is durable. The run is then executed, even after a crash.
 * RUNS-S2 Over all processes, at most `maxConcurrentRuns` execute and `maxQueuedRuns` wait; further submits are
 *    refused.
 * RUNS-S3 `start` resumes every run that an earlier process left unfinished, oldest first.
 * RUNS-S4 A cancel resolves when it is durable. The run is CANCELLED only when its work has stopped.
 * RUNS-S5 `close` lets runs end for a while, or hands them over to other processes. The remaining runs later continue
 *    from their last step.
 * RUNS-S6 A repeated submission under the same idempotency key returns the first run. Another submission under the
 *    key is refused.
 * RUNS-S7 While the store cannot be reached, submits are refused and runs wait. Both work again when it is back.
 * RUNS-S8 Ended runs beyond a number or an age are deleted, the oldest first. The same limits apply to threads without
 *    runs. Steps of ended runs can be deleted earlier.
 */
import { computeJsonDigest } from '@tutti/core'
import type { Ensemble, RunProfiles } from '@tutti/ensemble'

import { acceptRun, type AcceptedRun } from './accept-run.ts'
import { BuildCheck } from '../lineage/build-check.ts'
import { migrateRun, type RunMigration } from '../lineage/migrate-run.ts'
import { reportExecuted } from '../settings/activity.ts'
import { RunCommands } from './run-commands.ts'
import { EventBus, type EventListener } from '../feed/event-bus.ts'
import { LivingBuilds } from '../lineage/living-builds.ts'
import { RunEventFeed } from '../feed/event-feed.ts'
import { every } from '../lifecycle/every.ts'
import {
  followEvents,
  followNewRun,
  type EventBatches,
  type FollowRunOptions,
  type FollowSource,
} from '../feed/follow-events.ts'
import { readerPollMs, takesTurn } from '../domain/fleet-pace.ts'
import { deleteOldRuns, HOUSEKEEPING_MS } from '../lifecycle/delete-old-runs.ts'
import { reclaimRuns } from '../lifecycle/reclaim-runs.ts'
import { RunForks } from '../lineage/run-forks.ts'
import { GroupCommit } from '../commit/group-commit.ts'
import { buildNewRun, type RunSubmission } from '../request/new-run.ts'
import {
  resolveRunServiceOptions,
  type ResolvedRunServiceOptions,
  type RunServiceOptions,
} from '../settings/options.ts'
import { ByteBudget } from '../load/byte-budget.ts'
import { field } from '../domain/field.ts'
import { buildNotFound, draining, storeUnavailable } from '../domain/refusals.ts'
import { RunEnsembles } from '../request/run-ensembles.ts'
import { RunThreads } from '../threads/run-threads.ts'
import { UnreadableReport } from './unreadable-report.ts'
import { RunExecutor } from '../lifecycle/run-executor.ts'

import type { ForkRequest } from '../lineage/fork-request.ts'
import type { ReplayRequest } from '../lineage/replay-request.ts'
import type {
  ForkPreview,
  LifecycleState,
  LoggedRunEvent,
  ReplyTo,
  RunCommandKind,
  RunCommandOf,
  RunMigrated,
} from '@tutti/protocol'
import type { RunProcesses } from './run-processes.ts'
import type { KnownBuild } from '../ports/build-store.ts'
import type { EventQuery } from '../ports/event-log.ts'
import type { QueueLoad, StoreMetrics } from '../ports/run-queue.ts'
import type {
  ChangedRunsPage,
  ChangedRunsQuery,
  CreateRunOptions,
  ReviewQuery,
  RunListPage,
  RunQuery,
} from '../ports/run-store.ts'
import type { AuditLog } from '../ports/audit-log.ts'
import type { SecretStore } from '../ports/secret-store.ts'
import type { StoreNotification } from '../ports/notifications.ts'
import type { RunStorage } from '../ports/run-storage.ts'
import type { WebhookOutbox } from '../ports/webhook-outbox.ts'
import type { RunWithEvents, ServiceState } from './service-types.ts'
import type { NewRun, ReviewRecord, RunRecord, RunWithTasks } from '../domain/run-record.ts'

/** Selects open reviews. */
type OpenReviewsQuery = Pick<ReviewQuery, 'runId' | 'kinds'>

/** Maximum size of the open reviews that are read at once, in bytes. */
const REVIEW_PAGE_BYTES = 4_000_000

/** Durable runs of a set of ensembles over one store. */
export class RunService {
  readonly #storage: RunStorage
  readonly #ensembles: RunEnsembles
  readonly #settings: ResolvedRunServiceOptions
  readonly #bus: EventBus
  readonly #feed: RunEventFeed
  readonly #commits: GroupCommit
  readonly #unreadable: UnreadableReport
  readonly #executor: RunExecutor
  readonly #commands: RunCommands
  readonly #threads: RunThreads
  readonly #living: LivingBuilds
  readonly #forks: RunForks
  readonly #buildCheck: BuildCheck
  /** Id of the build of this process. */
  readonly build: string
  /** This process among those that share the store. */
  readonly processes: RunProcesses
  /** Bytes in flight in this process, with those of its callers. */
  readonly budget: ByteBudget
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
    this.#unreadable = new UnreadableReport(this.#settings.logger)
    const { logger, clock, tickMs, reviews } = this.#settings
    this.#ensembles = new RunEnsembles(ensembles, this.#settings, reviews)
    this.#bus = new EventBus((error) => logger.error('A reader of run events threw', { error }))
    const feed = new RunEventFeed({
      events: storage.events,
      bus: this.#bus,
      isOwn: (runId) => this.#executor.executes(runId),
      clock,
      onError: (error) => logger.warn('Failed to read events of other processes', { error }),
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
    this.build = this.#settings.buildId ?? computeJsonDigest(this.#ensembles.codes)
    this.budget = new ByteBudget(this.#settings.maxBytesInFlight)
    const { budget, build } = this
    this.#executor = new RunExecutor({ ...parts, commits: this.#commits, build, budget })
    this.processes = { own: this.#executor.owner, hasLease: (id) => storage.queue.hasLease(id) }
    this.#living = new LivingBuilds(storage, this.#settings)
    this.#buildCheck = new BuildCheck({ ...parts, living: this.#living, build: this.build })
    const owners = { executor: this.#executor, buildCheck: this.#buildCheck }
    this.#commands = new RunCommands({ ...parts, ...owners, feed })
    this.#threads = new RunThreads(storage, this.#settings)
    this.#forks = new RunForks({
      ...parts,
      buildRun: (submission) => this.#buildRun(submission),
      accept: async (run, submission, fork) => (await this.#accept(run, submission, fork)).run,
    })
  }

  /** The ensembles that runs may name; the first is the default. */
  get ensembles(): readonly Ensemble[] {
    return this.#ensembles.all
  }

  /** The profiles that directives may apply, by name. */
  get profiles(): RunProfiles {
    return this.#settings.profiles
  }

  /** Maximum number of runs that execute at the same time over all processes. */
  get maxConcurrentRuns(): number {
    return this.#settings.maxConcurrentRuns
  }

  /** Phase of the service: STARTING until `start` resolves, STOPPED once `close` has. */
  get phase(): LifecycleState {
    if (this.#closing !== undefined) return this.#hasStopped ? 'STOPPED' : 'DRAINING'
    return this.#hasStarted ? 'READY' : 'STARTING'
  }

  /** Whether runs are accepted, or the reason why not. They are accepted while the service starts. */
  get state(): ServiceState {
    if (this.#closing !== undefined) return 'DRAINING'
    return this.#storage.isAvailable ? 'READY' : 'STORE_UNAVAILABLE'
  }

  /** The engine that dispatches runs, and whether it can be reached; `store` if there is none. */
  get engine(): RunStorage['dispatcher']['engine'] {
    return this.#storage.dispatcher.engine
  }

  /** Whether the last known attempt to reach the store succeeded. */
  get isStoreAvailable(): boolean {
    return this.#storage.isAvailable
  }

  /** Number of runs that execute in this process. */
  get running(): number {
    return this.#executor.running
  }

  /** Number of tasks that run in this process, including delegated tasks. */
  get activeTasks(): number {
    return this.#executor.activeTasks
  }

  /** Counts the runs of each state, over all processes. */
  load(): Promise<QueueLoad> {
    return this.#storage.queue.load()
  }

  /** Decides at random whether this process does a repeated task that `enough` processes on the store suffice for. */
  takesTurn(enough: number): boolean {
    return takesTurn(enough, this.#storage.queue.fleet.processes)
  }

  /** Counts everything that waits in the store, over all processes. */
  metrics(): Promise<StoreMetrics> {
    return this.#storage.queue.metrics()
  }

  /**
   * Starts to execute runs and to listen to other processes. Resolves with the ids of the runs that an earlier process
   * left unfinished, if the store is not shared.
   */
  async start(): Promise<readonly string[]> {
    const storage = this.#storage
    const { logger, clock } = this.#settings
    const unfinished = storage.isShared ? [] : await reclaimRuns(storage)
    if (storage.isShared) {
      const onError = (error: unknown): void => {
        logger.warn('Failed to look for events of other processes', { error })
      }
      const task = () => this.#feed.poll()
      // A poll of every run reads the heads of all of them, so its interval does not depend on the size of the fleet.
      const everyMs = (): number =>
        readerPollMs(this.#bus.listensToAll ? 1 : storage.queue.fleet.processes)
      this.#stops.push(every({ clock, everyMs, task, onError }))
    }
    this.#stops.push(
      storage.listen((notification) => {
        this.#onNotification(notification)
      }),
      every({
        clock,
        everyMs: HOUSEKEEPING_MS,
        task: () => this.#keepHouse(),
        onError: (error) => {
          logger.warn('Failed to delete ended runs', { error })
        },
      }),
    )
    this.#executor.start()
    if (this.#settings.executes) this.#stops.push(this.#buildCheck.start())
    this.#hasStarted = true
    return unfinished
  }

  /**
   * Accepts a run. A repeated submission under the same idempotency key returns the existing run.
   *
   * @throws {TuttiError} INVALID_ENSEMBLE for an unknown name; BAD_REQUEST, INVALID_TOOL, INVALID_MODEL or
   * INVALID_TASK_OVERRIDE for an invalid request; INPUT_MISSING when template variables have no value, with their
   * names in `details.missing`; RUN_EXISTS when the id is taken; IDEMPOTENCY_CONFLICT when the key was used for another
   * submission; THREAD_NOT_FOUND; THREAD_BUSY when the newest run of the thread has not ended; CONCURRENCY_LIMIT when the queue is full or the quota is reached; SPEND_LIMIT when the actor has spent
   * its quota; DRAINING when the service is closing; STORE_UNAVAILABLE.
   */
  async submit(request: RunSubmission): Promise<RunRecord> {
    const { run } = await this.#accept(this.#buildRun(request), request)
    return run
  }

  /**
   * Accepts a run and follows it. The reader listens before the run exists, so its events are not read from the log.
   *
   * @throws {TuttiError} as `submit`.
   */
  async submitAndFollow(request: RunSubmission): Promise<RunWithEvents> {
    const newRun = this.#buildRun(request)
    this.#followSoon()
    const events = followNewRun(this.#followSource, newRun.runId)
    let isFollowed = false
    try {
      const { run, isNew } = await this.#accept(newRun, request)
      isFollowed = isNew
      return { run, events: isNew ? events : undefined }
    } finally {
      if (!isFollowed) await events.return?.()
    }
  }

  /** Accepts a run that begins with the log of another one, at no cost, and continues from there; see `RunForks.fork`. */
  fork(parentRunId: string, request: ForkRequest): Promise<RunRecord> {
    return this.#forks.fork(parentRunId, request)
  }

  /** Returns what a fork would do, without creating it; see `RunForks.preview`. */
  previewFork(parentRunId: string, request: ForkRequest): Promise<ForkPreview> {
    return this.#forks.preview(parentRunId, request)
  }

  /** Accepts a run that executes another one again with the results in its record; see `RunForks.replay`. */
  replay(parentRunId: string, request: ReplayRequest): Promise<RunRecord> {
    return this.#forks.replay(parentRunId, request)
  }

  /** Returns a run without its tasks; undefined when the id is unknown. */
  record(runId: string): Promise<RunRecord | undefined> {
    return this.#storage.runs.get(runId)
  }

  /** Returns a run with its tasks; undefined when the id is unknown. */
  async get(runId: string): Promise<RunWithTasks | undefined> {
    const run = await this.#storage.runs.get(runId)
    if (run === undefined) return undefined
    const tasks = await this.#storage.runs.tasks(runId)
    this.#unreadable.report([
      run,
      ...tasks.map(({ unreadable }) => ({ runId, ...field('unreadable', unreadable) })),
    ])
    return { run, tasks }
  }

  /** Deletes a run with its events, if it has ended. */
  async delete(runId: string): ReturnType<RunStorage['runs']['delete']> {
    const end = await this.#storage.runs.delete(runId)
    // Ends the streams of readers that follow the run.
    if (end === 'deleted') this.#feed.onDeleted(runId)
    return end
  }

  /** Conversations that consist of runs. */
  get threads(): RunThreads {
    return this.#threads
  }

  /** The audit log. */
  get audit(): AuditLog {
    return this.#storage.audit
  }

  /** Random secrets that every process on the store shares. */
  get secrets(): SecretStore {
    return this.#storage.secrets
  }

  /** Pending deliveries to webhooks. */
  get outbox(): WebhookOutbox {
    return this.#storage.outbox
  }

  /** Calls `listener` when a delivery may be due, until the returned function is called. */
  listenToOutbox(listener: () => void): () => void {
    return this.#storage.listen(({ kind }) => {
      if (kind === 'delivery' || kind === 'missed') listener()
    })
  }

  /** Returns a page of runs, newest first, each with its usage so far and its current task. */
  async list(query: RunQuery): Promise<RunListPage> {
    const page = await this.#storage.runs.list(query)
    return { ...page, runs: this.#unreadable.report(page.runs) }
  }

  /** Returns a page of runs, the one whose status changed last first. */
  listByChange(query: ChangedRunsQuery): Promise<ChangedRunsPage> {
    return this.#storage.runs.listByChange(query)
  }

  /** Returns open reviews, of one run or of all, and of some kinds or of all, in the order in which they opened. */
  async openReviews(which: OpenReviewsQuery = {}): Promise<readonly ReviewRecord[]> {
    const query = { ...which, open: true, maxBytes: REVIEW_PAGE_BYTES }
    return this.#unreadable.report(await this.#storage.runs.reviews(query))
  }

  /** Counts open reviews, of one run or of all, and of some kinds or of all. */
  countOpenReviews(which: OpenReviewsQuery = {}): Promise<number> {
    return this.#storage.runs.countReviews({ ...which, open: true })
  }

  /** Returns an open or closed review; undefined when the id is unknown. */
  async review(reviewId: string): Promise<ReviewRecord | undefined> {
    const [review] = await this.#storage.runs.reviews({ reviewId })
    return review
  }

  /** Yields the events of a run from `from` on, first from the log and then live, until its end. */
  follow(options: FollowRunOptions): EventBatches {
    this.#followSoon()
    return followEvents(this.#followSource, options)
  }

  /** Returns the events of a run that are in the log now. */
  async readEvents(query: EventQuery): Promise<readonly LoggedRunEvent[]> {
    return (await this.#storage.events.read(query)).events
  }

  /** Calls `listener` with the durable events of every run, until the returned function is called. */
  listenToAll(listener: EventListener): () => void {
    this.#followSoon()
    return this.#bus.listenToAll(listener)
  }

  /** Resolves when the present listeners of every run receive the events that other processes write from then on. */
  async connectListeners(): Promise<void> {
    if (this.#storage.isShared) await this.#feed.connectListeners()
  }

  /**
   * Sends a command to a run in any process. Resolves with the reply when the effect is durable.
   *
   * A cancel aborts the running work, or in mode `boundary` lets running tasks finish. The run is CANCELLED when its
   * work has stopped. For the other kinds see the methods of `RunHandle`. The first decision of a review counts.
   *
   * @throws {TuttiError} RUN_NOT_FOUND, RUN_COMPLETED; INVALID_MODEL; REVIEW_NOT_FOUND, REVIEW_RESOLVED; BAD_REQUEST
   * naming every problem; NOT_CONFIRMED when the owner does not confirm the command in time.
   */
  send<K extends RunCommandKind>(runId: string, command: RunCommandOf<K>): Promise<ReplyTo<K>> {
    return this.#commands.send(runId, command)
  }

  /** Moves a run that waits to the code of another build; see `migrateRun`. */
  migrate(runId: string, request: RunMigration): Promise<RunMigrated> {
    return migrateRun(this.#storage, runId, request)
  }

  /** Returns the codes of all builds that have started. Those that first started last come first. */
  builds(): Promise<readonly KnownBuild[]> {
    return this.#storage.builds.list()
  }

  /**
   * Sets the percentage of new runs that a build gets while older builds live. Processes apply it within two seconds.
   *
   * @throws {TuttiError} BUILD_NOT_FOUND.
   */
  async setBuildShare(build: string, share: number): Promise<void> {
    if (!(await this.#storage.builds.setShare(build, share))) throw buildNotFound(build)
    await this.#living.refresh()
  }

  /**
   * Stops accepting and starting runs. Runs of a shared store are handed over as soon as they have no call in flight;
   * other runs may end. After `drainTimeoutMs` the remaining runs are released and the store is closed. A second call
   * waits for the first.
   */
  close({ drainTimeoutMs }: { readonly drainTimeoutMs: number }): Promise<void> {
    this.#closing ??= this.#close(drainTimeoutMs)
    return this.#closing
  }

  /** Registers a task to run after all runs have stopped and before the store closes. Its errors are ignored. */
  beforeStoreCloses(task: () => Promise<void>): void {
    this.#closingTasks.push(task)
  }

  async #close(drainTimeoutMs: number): Promise<void> {
    await this.#executor.stop(drainTimeoutMs)
    await Promise.allSettled(this.#closingTasks.map((task) => task()))
    for (const stop of this.#stops) stop()
    this.#feed.stop()
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
        this.#executor.onReady()
        return
      case 'command':
        this.#tryTask(() => this.#executor.takeCommands(notification.runId))
        return
      case 'answer':
        this.#commands.onAnswer(notification.commandId)
        return
      case 'missed':
        this.#commands.onMissed()
        this.#executor.wake()
        this.#tryTask(() => this.#executor.takeCommands())
        this.#tryTask(() => this.#feed.poll())
        return
      case 'availability':
        if (!notification.isAvailable) return
        this.#tryTask(() => this.#executor.renew()) // before the writes that wait use the connections
        this.#commits.retry()
    }
  }

  #followSoon(): void {
    if (this.#storage.isShared) this.#feed.followSoon()
  }

  #tryTask(task: () => Promise<void>): void {
    task().catch((error: unknown) => {
      this.#settings.logger.warn('Failed to handle a notification of the store', { error })
    })
  }

  async #keepHouse(): Promise<void> {
    if (this.takesTurn(1)) await deleteOldRuns(this.#storage, this.#settings)
    await this.#feed.sweep()
    await this.#executor.takeCommands()
  }

  #buildRun(request: RunSubmission): NewRun {
    const run = buildNewRun(request, { ...this.#settings, ensembles: this.#ensembles })
    this.#assertReady()
    return run
  }

  #accept(
    run: NewRun,
    request: RunSubmission,
    fork?: CreateRunOptions['fork'],
  ): Promise<AcceptedRun> {
    const parts = {
      storage: this.#storage,
      threads: this.#threads,
      living: this.#living,
      executor: this.#executor,
      feed: this.#feed,
      settings: this.#settings,
    }
    return acceptRun(parts, { run, request, ...field('fork', fork) })
  }

  get #followSource(): FollowSource {
    const { events, runs } = this.#storage
    return { events, bus: this.#bus, find: (runId) => runs.get(runId) }
  }

  #assertReady(): void {
    const { state } = this
    if (state === 'DRAINING') throw draining()
    if (state === 'STORE_UNAVAILABLE') throw storeUnavailable()
  }
}
