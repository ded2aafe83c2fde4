/** The types of storage cases. */
import type { RunStorage } from '../ports/run-storage.ts'

/** A case. Its name states the rule; it throws when the adapter breaks the rule. */
export interface StorageCase {
  readonly name: string
  run(given: StorageGiven): Promise<void>
}

/** The arguments of a case. */
export interface StorageGiven {
  /** An open, empty storage. */
  readonly storage: RunStorage
  /** Lets time pass for the storage: leases, time limits, ages. */
  passTime(ms: number): Promise<void>
}

/** A case for shared storages. */
export interface SharedStorageCase {
  readonly name: string
  run(given: SharedStorageGiven): Promise<void>
}

/** The arguments of a case for shared storages. */
export interface SharedStorageGiven extends StorageGiven {
  /** Opens the same location again, like another process; the test closes it. */
  another(): Promise<RunStorage>
}
