/** Durable runs. To run: `RunService` over a storage. To extend: the ports of a storage. */

// To run
export { DEFAULT_TICK_MS } from './group-commit.ts'
export type { RunServiceOptions } from './options.ts'
export { RunService, type RunLoad, type RunWithTasks, type SubmitRun } from './run-service.ts'
export { sqliteRunStorage } from './sqlite/sqlite-run-storage.ts'

// To read
export type { EventListener } from './event-bus.ts'
export type { FollowOptions } from './follow-events.ts'
export type { EventQuery, RunPage, RunQuery } from './ports/run-store.ts'
export type { NewRun, RunRecord, TaskRecord } from './run-record.ts'

// To extend
export { changesOf, type Change, type NewTask, type RunFields, type TaskFields } from './changes.ts'
export type {
  ClaimedRun,
  EventLog,
  RunStorage,
  RunStore,
  RunWrite,
  WriteResult,
} from './ports/run-store.ts'
