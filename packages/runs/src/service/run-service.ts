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
import type { Clock } from '@tutti/core'
import type { LoggedRunEvent } from '@tutti/protocol'
import type { ReplyTo, RunCommandKind, RunCommandOf } from '@tutti/protocol/internal'
import type { Ensemble, RunProfiles } from '@tutti/ensemble'
import type { RunRecord, RunWithTasks } from '../domain/run-record.ts'
import type { EventListener } from '../feed/event-bus.ts'
import type { EventBatches, FollowRunOptions } from '../feed/follow-events.ts'
import type { RunBuilds } from '../lineage/run-builds.ts'
import type { RunForks } from '../lineage/run-forks.ts'
import type { ByteBudget } from '../load/byte-budget.ts'
import type { AuditLog } from '../ports/audit-log.ts'
import type { EventQuery } from '../ports/event-log.ts'
import type {
  ChangedRunsPage,
  ChangedRunsQuery,
  RunListPage,
  RunQuery,
  RunStore,
} from '../ports/run-store.ts'
import type { SecretStore } from '../ports/secret-store.ts'
import type { WebhookOutbox } from '../ports/webhook-outbox.ts'
import type { RunSubmission } from '../request/new-run.ts'
import type { RunSchedules } from '../schedules/run-schedules.ts'
import type { RunThreads } from '../threads/run-threads.ts'
import type { RunExternalEvents } from './external-events.ts'
import type { RunProcesses } from './run-processes.ts'
import type { RunReviews } from './run-reviews.ts'
import type { ServiceStatus } from './service-status.ts'

/** An accepted run with its events. */
export interface RunWithEvents {
  readonly run: RunRecord
  /** Events from the first one on; undefined for the run of an earlier submission. */
  readonly events: EventBatches | undefined
}

/** Listeners of every run. */
export interface ServiceListeners {
  /** Calls `listener` with the durable events of every run, until the returned function is called. */
  add(listener: EventListener): () => void
  /** Resolves when the present listeners receive the events that other processes write from then on. */
  connect(): Promise<void>
}

/** Parts of the store that the service opens and closes, and that only its callers use. */
export interface ServiceStores {
  /** The audit log. */
  readonly audit: AuditLog
  /** Random secrets that every process on the store shares. */
  readonly secrets: SecretStore
  /** Pending deliveries to webhooks. */
  readonly outbox: WebhookOutbox
  /** Calls `listener` when a delivery may be due, until the returned function is called. */
  listenToOutbox(listener: () => void): () => void
}

/** Durable runs of a set of ensembles over one store. */
export interface RunService {
  /** The ensembles that runs may name; the first is the default. */
  readonly ensembles: readonly Ensemble[]
  /** The profiles that directives may apply, by name. */
  readonly profiles: RunProfiles
  /** The clock of runs: that of the store. Compare instants of runs with this one, not with the system clock. */
  readonly clock: Pick<Clock, 'now'>
  /** This process among those that share the store. */
  readonly processes: RunProcesses
  /** Bytes in flight in this process, with those of its callers. */
  readonly budget: ByteBudget
  /** Whether runs are accepted, and how many there are. */
  readonly status: ServiceStatus
  /** Forks and replays of runs. */
  readonly forks: RunForks
  /** Builds of the code of ensembles. */
  readonly builds: RunBuilds
  /** Conversations that consist of runs. */
  readonly threads: RunThreads
  /** Schedules, which submit runs at their ticks. */
  readonly schedules: RunSchedules
  /** Reviews of runs. */
  readonly reviews: RunReviews
  /** External events, which decide the waits of runs. */
  readonly externalEvents: Pick<RunExternalEvents, 'receive' | 'state' | 'maxAgeMs'>
  /** Listeners of every run. */
  readonly listeners: ServiceListeners
  /** Other parts of the store. */
  readonly stores: ServiceStores

  /**
   * Starts to execute runs and to listen to other processes. Resolves with the ids of the runs that an earlier process
   * was executing or had queued, the oldest first, if the store is not shared.
   */
  start(): Promise<readonly string[]>

  /**
   * Stops accepting and starting runs. Runs of a shared store are handed over as soon as they have no call in flight;
   * other runs may end. After `drainTimeoutMs` the remaining runs are released and the store is closed. A second call
   * waits for the first.
   */
  close(options: { readonly drainTimeoutMs: number }): Promise<void>

  /** Registers a task to run after all runs have stopped and before the store closes. Its errors are ignored. */
  beforeStoreCloses(task: () => Promise<void>): void

  /**
   * Accepts a run. A repeated submission under the same idempotency key returns the existing run.
   *
   * @throws {TuttiError} INVALID_ENSEMBLE for an unknown name; BAD_REQUEST, INVALID_TOOL, INVALID_MODEL or
   * INVALID_TASK_OVERRIDE for an invalid request; INPUT_MISSING when template variables have no value, with their
   * names in `details.missing`; RUN_EXISTS when the id is taken; IDEMPOTENCY_CONFLICT when the key was used for another
   * submission; THREAD_NOT_FOUND; THREAD_BUSY when the newest run of the thread has not ended; CONCURRENCY_LIMIT when
   * the queue is full or the quota is reached; SPEND_LIMIT when the actor has spent its quota; DRAINING when the service
   * is closing; STORE_UNAVAILABLE.
   */
  submit(request: RunSubmission): Promise<RunRecord>

  /**
   * Accepts a run and follows it. The reader listens before the run exists, so its events are not read from the log.
   *
   * @throws {TuttiError} as `submit`.
   */
  submitAndFollow(request: RunSubmission): Promise<RunWithEvents>

  /** Returns a run without its tasks; undefined when the id is unknown. */
  record(runId: string): Promise<RunRecord | undefined>

  /** Returns a run with its tasks; undefined when the id is unknown. */
  get(runId: string): Promise<RunWithTasks | undefined>

  /** Returns a page of runs, newest first, each with its usage so far and its current task. */
  list(query: RunQuery): Promise<RunListPage>

  /** Returns a page of runs, the one whose status changed last first. */
  listByChange(query: ChangedRunsQuery): Promise<ChangedRunsPage>

  /** Deletes a run with its events, if it has ended. */
  delete(runId: string): ReturnType<RunStore['delete']>

  /**
   * Sends a command to a run in any process. Resolves with the reply when the effect is durable.
   *
   * A cancel aborts the running work, or in mode `boundary` lets running tasks finish. The run is CANCELLED when its
   * work has stopped. For the other kinds see the methods of `RunHandle`. The first decision of a review counts.
   *
   * @throws {TuttiError} RUN_NOT_FOUND, RUN_COMPLETED; INVALID_MODEL; REVIEW_NOT_FOUND, REVIEW_RESOLVED; BAD_REQUEST
   * naming every problem; NOT_CONFIRMED when the owner does not confirm the command in time.
   */
  send<K extends RunCommandKind>(runId: string, command: RunCommandOf<K>): Promise<ReplyTo<K>>

  /** Yields the events of a run from `from` on, first from the log and then live, until its end. */
  follow(options: FollowRunOptions): EventBatches

  /** Returns the events of a run that are in the log now. */
  readEvents(query: EventQuery): Promise<readonly LoggedRunEvent[]>
}
