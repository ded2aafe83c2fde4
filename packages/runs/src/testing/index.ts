/** Cases for tests of storage adapters. */
export { dispatcherCases } from './dispatcher-cases.ts'
export { queued, token } from './event-fixtures.ts'
export { newRun } from './run-fixtures.ts'
export { runStorageCases } from './run-storage-cases.ts'
export { sharedStorageCases } from './shared-storage-cases.ts'
export type {
  SharedStorageCase,
  SharedStorageCaseContext,
  StorageCase,
  StorageCaseContext,
} from './storage-case.ts'
