/** What a case of the list is, and what it is given. */
import type { RunStorage } from '../ports/run-storage.ts'

/** One case: its name is the rule; it throws when the adapter breaks its contract. */
export interface StorageCase {
  readonly name: string
  run(given: StorageGiven): Promise<void>
}

/** What a case works with. */
export interface StorageGiven {
  /** Open, and empty. */
  readonly storage: RunStorage
  /** Lets time pass for the storage: leases, waits, ages. */
  passTime(ms: number): Promise<void>
}

/** A case for adapters that several processes share. */
export interface SharedStorageCase {
  readonly name: string
  run(given: SharedStorageGiven): Promise<void>
}

/** What a case of a shared storage works with. */
export interface SharedStorageGiven extends StorageGiven {
  /** Opens the same place once more, as another process would; the test closes it. */
  another(): Promise<RunStorage>
}
