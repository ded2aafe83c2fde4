/** Starts and stops a service, and passes the notifications of the store to its parts. */
import { lookMs, readerPollMs, takesTurn } from '../domain/fleet-pace.ts'
import { isSteady } from '../domain/steady-clock.ts'
import { deleteOldRuns, HOUSEKEEPING_MS } from '../lifecycle/delete-old-runs.ts'
import { every } from '../lifecycle/every.ts'
import { SWEEP_EVENTS_MS } from './external-events.ts'

import type { LifecycleState } from '@tutti/protocol/internal'
import type { GroupCommit } from '../commit/group-commit.ts'
import type { EventBus } from '../feed/event-bus.ts'
import type { RunEventFeed } from '../feed/event-feed.ts'
import type { DueLoop } from '../lifecycle/due-loop.ts'
import type { RunExecutor } from '../lifecycle/run-executor.ts'
import type { BuildCheck } from '../lineage/build-check.ts'
import type { StoreNotification } from '../ports/notifications.ts'
import type { RunStorage } from '../ports/run-storage.ts'
import type { ResolvedRunServiceOptions } from '../settings/options.ts'
import type { RunExternalEvents } from './external-events.ts'
import type { RunCommands } from './run-commands.ts'

/** Parts that a service starts, notifies and stops. */
export interface ServiceLoopOptions {
  readonly storage: RunStorage
  readonly settings: ResolvedRunServiceOptions
  readonly bus: EventBus
  readonly feed: RunEventFeed
  readonly commits: GroupCommit
  readonly executor: RunExecutor
  readonly buildCheck: BuildCheck
  readonly commands: RunCommands
  readonly externalEvents: Pick<RunExternalEvents, 'sweep' | 'trim'>
  /** Loops that start and stop with the service. */
  readonly timers: readonly Pick<DueLoop, 'start'>[]
}

/** Runs a service from `start` to `close`. */
export class ServiceLoop {
  readonly #options: ServiceLoopOptions
  readonly #stops: (() => void)[] = []
  readonly #closingTasks: (() => Promise<void>)[] = []
  #closing: Promise<void> | undefined
  #hasStarted = false
  #hasStopped = false
  /** Sum of all logged steps of the system clock, in milliseconds. */
  #loggedStepsMs: number

  constructor(options: ServiceLoopOptions) {
    this.#options = options
    const { clock } = options.settings
    this.#loggedStepsMs = isSteady(clock) ? clock.ignoredMs : 0
  }

  /** STARTING until `start` resolves, STOPPED once `close` has. */
  get phase(): LifecycleState {
    if (this.isClosing) return this.#hasStopped ? 'STOPPED' : 'DRAINING'
    return this.#hasStarted ? 'READY' : 'STARTING'
  }

  /** Whether `close` was called. */
  get isClosing(): boolean {
    return this.#closing !== undefined
  }

  /** Starts to execute runs; see `RunService.start`. */
  async start(): Promise<readonly string[]> {
    const { storage, settings, bus, feed, executor, buildCheck, timers } = this.#options
    const { logger, clock } = settings
    const unfinished = storage.isShared ? [] : await storage.queue.reclaimAll()
    if (storage.isShared) {
      const onError = (error: unknown): void => {
        logger.warn('Failed to poll events of other processes', { error })
      }
      const task = () => feed.poll()
      // A poll of every run reads the heads of all of them, so its interval does not depend on the size of the fleet.
      const everyMs = (): number =>
        readerPollMs(bus.listensToAll ? 1 : storage.queue.fleet.processes)
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
    this.#stops.push(
      every({
        clock,
        everyMs: () => lookMs(SWEEP_EVENTS_MS, storage.queue.fleet.processes),
        task: () => this.#sweepEvents(),
        onError: (error) => {
          logger.warn('Failed to deliver external events', { error })
        },
      }),
    )
    executor.start()
    this.#stops.push(...timers.map((timer) => timer.start()))
    if (settings.executes) this.#stops.push(buildCheck.start())
    this.#hasStarted = true
    return unfinished
  }

  /** Stops the service; see `RunService.close`. */
  close(drainTimeoutMs: number): Promise<void> {
    this.#closing ??= this.#close(drainTimeoutMs)
    return this.#closing
  }

  /** Registers a task to run after all runs have stopped and before the store closes. Its errors are ignored. */
  beforeStoreCloses(task: () => Promise<void>): void {
    this.#closingTasks.push(task)
  }

  async #close(drainTimeoutMs: number): Promise<void> {
    const { storage, feed, commits, executor } = this.#options
    await executor.stop(drainTimeoutMs)
    await Promise.allSettled(this.#closingTasks.map((task) => task()))
    for (const stop of this.#stops) stop()
    feed.stop()
    commits.stop()
    await storage[Symbol.asyncDispose]()
    this.#hasStopped = true
  }

  #onNotification(notification: StoreNotification): void {
    const { feed, commits, executor, commands } = this.#options
    switch (notification.kind) {
      case 'events':
        feed.onWritten(notification.runId, notification)
        return
      case 'ready':
        executor.onReady()
        return
      case 'command':
        this.#tryTask(() => executor.takeCommands(notification.runId))
        return
      case 'answer':
        commands.onAnswer(notification.commandId)
        return
      case 'missed':
        commands.onMissed()
        executor.wake()
        this.#tryTask(() => executor.takeCommands())
        this.#tryTask(() => feed.pollAgain())
        return
      case 'availability':
        if (!notification.isAvailable) return
        this.#tryTask(() => executor.renew()) // before the writes that wait use the connections
        commits.retry()
    }
  }

  #tryTask(task: () => Promise<void>): void {
    task().catch((error: unknown) => {
      this.#options.settings.logger.warn('Failed to handle a notification of the store', { error })
    })
  }

  /** Logs when the system clock was set: instants of runs do not follow it until the process restarts. */
  #logSteps(): void {
    const { clock, logger } = this.#options.settings
    if (!isSteady(clock) || clock.ignoredMs === this.#loggedStepsMs) return
    const { ignoredMs } = clock
    const stepMs = ignoredMs - this.#loggedStepsMs
    this.#loggedStepsMs = ignoredMs
    logger.warn('The system clock was set; runs ignore it until this process restarts', {
      stepMs,
      ignoredMs,
    })
  }

  async #sweepEvents(): Promise<void> {
    const { storage, externalEvents } = this.#options
    if (takesTurn(1, storage.queue.fleet.processes)) await externalEvents.sweep()
  }

  async #keepHouse(): Promise<void> {
    const { storage, settings, feed, executor, externalEvents } = this.#options
    this.#logSteps()
    if (takesTurn(1, storage.queue.fleet.processes)) {
      await deleteOldRuns(storage, settings)
      await externalEvents.trim()
    }
    await feed.sweep()
    await executor.takeCommands()
  }
}
