/**
 * Durable runs: `createRunService` over a storage, which is `sqliteRunStorage` or `postgresRunStorage` of
 * `@tutti/runs/postgres`. Other storages implement the ports.
 */

// To run
export { DEFAULT_TICK_MS } from './commit/group-commit.ts'
export {
  findRunLimitProblems,
  isRunLimit,
  RESUME_POLICIES,
  type ResumePolicy,
  type RunServiceOptions,
} from './settings/options.ts'
export type { ReviewRules } from './request/run-ensembles.ts'
export type { ForkPlace, RunSubmission } from './request/new-run.ts'
export type { ForkRequest } from './lineage/fork-request.ts'
export type { ReplayRequest } from './lineage/replay-request.ts'
export { createRunService } from './service/create-run-service.ts'
export type {
  ServiceListeners,
  RunService,
  RunWithEvents,
  ServiceStores,
} from './service/run-service.ts'
export type { ServiceState, ServiceStatus } from './service/service-status.ts'
export type { OpenReviewsQuery, RunReviews } from './service/run-reviews.ts'
export type { RunBuilds } from './lineage/run-builds.ts'
export type { RunForks } from './lineage/run-forks.ts'
export { sqliteRunStorage, type SqliteRunStorageOptions } from './stores/sqlite/run-storage.ts'

export type {
  HistoryLimits,
  RunThreads,
  ThreadMessagesPage,
  ThreadRunMessages,
} from './threads/run-threads.ts'

export { threadNotFound } from './domain/refusals.ts'

// To observe
export type { RunProcesses } from './service/run-processes.ts'
export type { ActivityListener, ExecutedListener, RunActivity } from './settings/activity.ts'
export type { TraceNewRun } from './request/new-run.ts'

// To read
export type { EventListener } from './feed/event-bus.ts'
export { eventPages } from './feed/event-pages.ts'
export { eventSize } from './feed/follow-events.ts'
export type { EventBatches, FollowRunOptions } from './feed/follow-events.ts'
export { readTurn } from './feed/read-turns.ts'
export { ByteBudget, type Reservation } from './load/byte-budget.ts'
export { FairQueue, type QueueSource } from './load/fair-queue.ts'
export { currentSource, workFor, type WorkSource } from './load/work-source.ts'
export { serializeOnce } from './log/serialize-once.ts'
export type {
  StoredEventLog,
  EventPage,
  EventQuery,
  FollowQuery,
  RunHead,
} from './ports/event-log.ts'
export type { QueueLoad, StoreMetrics } from './ports/run-queue.ts'
export type { Quota } from './domain/quota.ts'
export type { ReviewQuery, RunListPage, RunQuery } from './ports/run-store.ts'
export type { Catalogs } from './request/catalog-names.ts'
export { buildEnsemble } from './request/build-ensemble.ts'
export type {
  ListedRun,
  NewRun,
  ReviewRecord,
  ReviewStatus,
  RunRecord,
  RequestedRun,
  SubmissionKey,
  TaskRecord,
  RunWithTasks,
} from './domain/run-record.ts'

// To extend
export { toRecordChanges } from './log/changes.ts'
export type { Change, NewReview, NewTask, RunFields, TaskChangeFields } from './domain/change.ts'
export type {
  ClaimedRun,
  ClaimRequest,
  Fleet,
  HeldRun,
  LeaseOwner,
  KnownEnsembles,
  Offer,
  OfferOutcome,
  ProcessCode,
  Release,
  Released,
  RenewalRequest,
  RunQueue,
} from './ports/run-queue.ts'
export type {
  CommandAnswer,
  CommandQueue,
  PendingCommand,
  SentCommand,
} from './ports/command-queue.ts'
export type { BuildCode, ChosenCode, RunCode } from './domain/run-code.ts'
export type {
  BuildStore,
  KnownBuild,
  LivingBuild,
  NewBuild,
  NewCode,
  RunMove,
  StrandedQuery,
  StrandedRun,
} from './ports/build-store.ts'
export type { RunMigration } from './lineage/migrate-run.ts'
export type { AuditLog, NewAuditEntry } from './ports/audit-log.ts'
export {
  DISPATCHER_VERSION,
  storeDispatcher,
  type Dispatcher,
  type EngineState,
  type OfferOutbox,
  type StoredOffer,
} from './ports/dispatcher.ts'
export { OfferRelay, type OfferRelayOptions } from './lifecycle/offer-relay.ts'
export type { ConnectEngine, DispatchEngine, EngineHost } from './ports/dispatch-engine.ts'
export type {
  AddressedNotification,
  Notifications,
  SentNotification,
  StoreNotification,
  WrittenEvents,
} from './ports/notifications.ts'
export type { RunStorage } from './ports/run-storage.ts'
export type {
  CreatedThread,
  DeletedThread,
  ThreadQuery,
  ThreadRunPage,
  ThreadRunQuery,
  ThreadStore,
} from './ports/thread-store.ts'
export type { NewThreadRun } from './domain/run-record.ts'
export type { NewThread, ThreadRecord, ThreadRunRecord } from './domain/thread-record.ts'
export type { SecretStore } from './ports/secret-store.ts'
export type {
  ClaimDeliveries,
  ClaimedDelivery,
  DeliveryEnd,
  WebhookOutbox,
} from './ports/webhook-outbox.ts'
export type {
  ChangedRun,
  ChangedRunsPage,
  ChangedRunsQuery,
  CreatedRun,
  CreateRunOptions,
  UnownedWrite,
  Retention,
  RunStore,
  RunWrite,
  WriteResult,
} from './ports/run-store.ts'
