/** Ports that adapters implement: storage, with its parts and records, and dispatch engines. */
export type { EventQuery, RunHead, StoredEventLog } from './ports/event-log.ts'
export type {
  ClaimedRun,
  ClaimRequest,
  ExpiredRuns,
  Fleet,
  HeldRun,
  LeaseOwner,
  Offer,
  OfferOutcome,
  QueueLoad,
  Released,
  RenewalRequest,
  RunQueue,
  StoreMetrics,
  KnownEnsembles,
} from './ports/run-queue.ts'
export type { Quota } from './domain/quota.ts'
export type {
  ChangedRun,
  ChangedRunsPage,
  ChangedRunsQuery,
  CreatedRun,
  CreateRunOptions,
  ReviewQuery,
  RunStore,
  RunWrite,
  UnownedWrite,
  WriteResult,
} from './ports/run-store.ts'
export type {
  NewRun,
  RequestedRun,
  ReviewRecord,
  RunRecord,
  RunWithTasks,
  TaskRecord,
  NewThreadRun,
} from './domain/run-record.ts'
export { toRecordChanges } from './log/changes.ts'
export type { Change } from './domain/change.ts'
export type {
  CommandQueue,
  PendingCommand,
  SentCommand,
  CommandAnswer,
} from './ports/command-queue.ts'
export type {
  BuildStore,
  KnownBuild,
  LivingBuild,
  NewBuild,
  RunMove,
  StrandedQuery,
  StrandedRun,
  NewCode,
} from './ports/build-store.ts'
export type { AuditLog, NewAuditEntry } from './ports/audit-log.ts'
export {
  type Dispatcher,
  DISPATCHER_VERSION,
  type EngineState,
  type OfferOutbox,
  storeDispatcher,
  type StoredOffer,
} from './ports/dispatcher.ts'
export { OfferRelay } from './lifecycle/offer-relay.ts'
export type { ConnectEngine, DispatchEngine, EngineHost } from './ports/dispatch-engine.ts'
export type {
  AddressedNotification,
  Notifications,
  StoreNotification,
  WrittenEvents,
} from './ports/notifications.ts'
export type { RunStorage } from './ports/run-storage.ts'
export type {
  ThreadQuery,
  ThreadRunPage,
  ThreadRunQuery,
  ThreadStore,
  CreatedThread,
  DeletedThread,
} from './ports/thread-store.ts'
export type { NewThread, ThreadRecord } from './domain/thread-record.ts'
export type {
  AddedEvent,
  AssignedEvent,
  ExternalEventState,
  ExternalEventStore,
  NewExternalEvent,
} from './ports/external-events.ts'
export type {
  ClaimedTick,
  DueSchedules,
  NewSchedule,
  ScheduleRecord,
  ScheduleStore,
  TickEnd,
  TickProblem,
  TickRun,
} from './ports/schedule-store.ts'
export type { SecretStore } from './ports/secret-store.ts'
export type {
  ClaimedDelivery,
  DeliveryEnd,
  WebhookOutbox,
  ClaimDeliveries,
} from './ports/webhook-outbox.ts'
