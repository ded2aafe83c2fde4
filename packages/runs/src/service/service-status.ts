/** The status of a service, in this process and on the store. */
import type { LifecycleState } from '@tutti/protocol/internal'
import type { RunExecutor } from '../lifecycle/run-executor.ts'
import type { RunStorage } from '../ports/run-storage.ts'
import type { QueueLoad, StoreMetrics } from '../ports/run-queue.ts'
import type { ServiceLoop } from './service-loop.ts'

/** Whether the service accepts runs, or the reason why not. */
export type ServiceState = 'READY' | 'DRAINING' | 'STORE_UNAVAILABLE'

/** Parts that the status reads. */
export interface ServiceStatusOptions {
  readonly storage: RunStorage
  readonly executor: RunExecutor
  readonly loop: ServiceLoop
  readonly maxConcurrentRuns: number
}

/** Reports the status of a service. */
export class ServiceStatus {
  /** Maximum number of runs that execute at the same time over all processes. */
  readonly maxConcurrentRuns: number
  readonly #options: ServiceStatusOptions

  constructor(options: ServiceStatusOptions) {
    this.maxConcurrentRuns = options.maxConcurrentRuns
    this.#options = options
  }

  /** Phase of the service: STARTING until `start` resolves, STOPPED once `close` has. */
  get phase(): LifecycleState {
    return this.#options.loop.phase
  }

  /** Whether runs are accepted, or the reason why not. They are accepted while the service starts. */
  get state(): ServiceState {
    if (this.#options.loop.isClosing) return 'DRAINING'
    return this.isStoreAvailable ? 'READY' : 'STORE_UNAVAILABLE'
  }

  /** Whether the last known attempt to reach the store succeeded. */
  get isStoreAvailable(): boolean {
    return this.#options.storage.isAvailable
  }

  /** The engine that dispatches runs, and whether it can be reached; `store` if there is none. */
  get engine(): RunStorage['dispatcher']['engine'] {
    return this.#options.storage.dispatcher.engine
  }

  /** Number of runs that execute in this process. */
  get running(): number {
    return this.#options.executor.running
  }

  /** Number of tasks that run in this process, including delegated tasks. */
  get activeTasks(): number {
    return this.#options.executor.activeTasks
  }

  /** Counts the runs of each state, over all processes. */
  load(): Promise<QueueLoad> {
    return this.#options.storage.queue.load()
  }

  /** Counts everything that waits in the store, over all processes. */
  metrics(): Promise<StoreMetrics> {
    return this.#options.storage.queue.metrics()
  }
}
