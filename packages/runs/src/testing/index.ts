/** Cases for tests of storage adapters. */
export { dispatcherCases } from './queue/dispatcher-cases.ts'
export { queued, token } from './support/event-fixtures.ts'
export { newRun } from './support/run-fixtures.ts'
export { runStorageCases } from './run-storage-cases.ts'
export { sharedStorageCases } from './shared-storage-cases.ts'
export type {
  SharedStorageCase,
  SharedStorageCaseContext,
  StorageCase,
  StorageCaseContext,
} from './support/storage-case.ts'
