/** Several storages of one place. */
import { ok } from 'node:assert/strict'

import type { RunStorage } from '../ports/run-storage.ts'
import type { SharedStorageGiven } from './storage-case.ts'

/** So many storages of one place, the given one among them. */
export async function openStorages(
  { storage, another }: SharedStorageGiven,
  count: number,
): Promise<readonly RunStorage[]> {
  return [storage, ...(await Promise.all(Array.from({ length: count - 1 }, () => another())))]
}

/** One of them, taken in turn. */
export function at(storages: readonly RunStorage[], n: number): RunStorage {
  const storage = storages[n % storages.length]
  ok(storage !== undefined)
  return storage
}
