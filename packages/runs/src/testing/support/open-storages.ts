/** Several storages of the same location. */
import { ok } from 'node:assert/strict'

import type { RunStorage } from '../../ports/run-storage.ts'
import type { SharedStorageCaseContext } from './storage-case.ts'

/** Opens `count` storages of the same location, including `storage`. */
export async function openStorages(
  { storage, another }: SharedStorageCaseContext,
  count: number,
): Promise<readonly RunStorage[]> {
  return [storage, ...(await Promise.all(Array.from({ length: count - 1 }, () => another())))]
}

/** Returns the n-th storage, counting cyclically. */
export function at(storages: readonly RunStorage[], n: number): RunStorage {
  const storage = storages[n % storages.length]
  ok(storage !== undefined)
  return storage
}
