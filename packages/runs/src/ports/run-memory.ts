/**
 * Memories and reflections of tasks over many runs, shared by all processes on the store. The ports are those of the
 * engine; this file adds the guarantees of a database.
 *
 * RUNS-M1 `retrieve` returns the most recent entries of a scope, oldest first. Scopes share nothing.
 * RUNS-M2 A scope holds its last `MAX_MEMORY_ENTRIES` entries.
 * RUNS-M3 A reflection replaces the earlier one with the same key.
 * RUNS-M4 Entries and reflections outlive the runs that wrote them.
 */
import type { MemoryStore, ReflectionStore } from '@tutti/ensemble/adapter'

/** Maximum number of entries in one scope. A prompt shows far fewer. */
export const MAX_MEMORY_ENTRIES = 1_000

/** Durable memories and reflections. */
export interface RunMemory {
  readonly memories: MemoryStore
  readonly reflections: ReflectionStore
}
