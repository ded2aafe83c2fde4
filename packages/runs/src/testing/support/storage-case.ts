/** The types of storage cases. */
import type { RunStorage } from '../../ports/run-storage.ts'

/** A case. Its name states the rule; it throws when the adapter breaks the rule. */
export interface StorageCase {
  readonly name: string
  run(given: StorageCaseContext): Promise<void>
}

/** The arguments of a case. */
export interface StorageCaseContext {
  /** An open, empty storage. */
  readonly storage: RunStorage
  /** Lets time pass for the storage: leases, time limits, ages. */
  passTime(ms: number): Promise<void>
}

/** A test of stores that several processes open. */
export interface SharedStorageCase {
  readonly name: string
  run(given: SharedStorageCaseContext): Promise<void>
}

/** The arguments of a case for shared storages. */
export interface SharedStorageCaseContext extends StorageCaseContext {
  /** Opens the same location again, like another process; the test closes it. */
  another(): Promise<RunStorage>
}
