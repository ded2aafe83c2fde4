/** For tests of storage adapters. */
export { runStorageCases, type RunStorageCase } from './run-storage-cases.ts'
