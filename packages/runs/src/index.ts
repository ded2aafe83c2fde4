/**
 * Durable runs: `createRunService` over a storage, which is `sqliteRunStorage` or `postgresRunStorage` of
 * `@tutti/runs/postgres`. Other storages implement the ports.
 */

// To run
export type { ResumePolicy, RunServiceOptions } from './settings/options.ts'
export type {
  CatchUp,
  ConfiguredSchedule,
  Overlap,
  ScheduleDefinition,
  ScheduledSubmission,
} from './domain/schedule.ts'
export type { RunSubmission } from './request/new-run.ts'
export type { ForkRequest } from './lineage/fork-request.ts'
export type { ReplayRequest } from './lineage/replay-request.ts'
export { createRunService } from './service/create-run-service.ts'
export type { RunService } from './service/run-service.ts'
export type { ServiceStatus } from './service/service-status.ts'
export { sqliteRunStorage, type SqliteRunStorageOptions } from './stores/sqlite/run-storage.ts'

// To observe

// To read
export type { FollowRunOptions } from './feed/follow-events.ts'
export type { EventPage } from './ports/event-log.ts'
export type { RunListPage, RunQuery } from './ports/run-store.ts'
export type { Catalogs } from './request/catalog-names.ts'
export type { ListedRun } from './domain/run-record.ts'

// To extend
export type { Retention } from './ports/run-store.ts'
