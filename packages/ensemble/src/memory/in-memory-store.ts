/**
 * A memory store in the memory of this process.
 *
 * ENS-M3 The most recent entries are returned, the oldest of them first, regardless of the query.
 * ENS-M4 A scope retains the last `maxEntriesPerScope` entries that are not older than `maxAgeMs`.
 * ENS-M5 An appended entry is copied, and changes to a returned entry do not reach the store.
 */
import { systemClock, type Clock } from '@tutti/core'
import { assertKnownOptions, type OptionNames } from '@tutti/core/internal'

import type { MemoryEntry, MemoryStore } from './memory.ts'

export interface InMemoryStoreOptions {
  /** Maximum number of entries per scope, at least 1, or Infinity; the oldest are dropped. @default 1000 */
  readonly maxEntriesPerScope?: number
  /** Maximum age of an entry since its `storedAt`, in milliseconds. @default Infinity */
  readonly maxAgeMs?: number
  /** Clock for the age of entries. @default the system clock */
  readonly clock?: Clock
}

const OPTION_NAMES = {
  maxEntriesPerScope: true,
  maxAgeMs: true,
  clock: true,
} as const satisfies OptionNames<InMemoryStoreOptions>

/**
 * Default maximum number of entries per scope: far more than a prompt shows, and few enough for a process
 * that runs for months.
 */
const DEFAULT_MAX_ENTRIES = 1000

/**
 * Creates a store that lasts as long as the object.
 *
 * @throws {RangeError} naming every invalid limit.
 */
export function inMemoryStore(options: InMemoryStoreOptions = {}): MemoryStore {
  const {
    maxEntriesPerScope = DEFAULT_MAX_ENTRIES,
    maxAgeMs = Infinity,
    clock = systemClock,
  } = options
  assertKnownOptions('Cannot create a memory store:', options, OPTION_NAMES)
  assertBounds({ maxEntriesPerScope, maxAgeMs })
  const scopes = new Map<string, readonly MemoryEntry[]>()

  /** Returns the entries of a scope and drops those that are too old. */
  function current(scope: string): readonly MemoryEntry[] {
    const entries = scopes.get(scope) ?? []
    const oldest = clock.now() - maxAgeMs
    const young = entries.filter(({ storedAt }) => Date.parse(storedAt) >= oldest)
    if (young.length === 0) scopes.delete(scope)
    else if (young.length < entries.length) scopes.set(scope, young)
    return young
  }

  return {
    async append(scope, entry) {
      assertInstant(entry.storedAt)
      const entries = [...current(scope), Object.freeze({ ...entry })]
      scopes.set(scope, takeLast(entries, maxEntriesPerScope))
    },
    async retrieve(scope, { limit }) {
      return takeLast(current(scope), limit)
    },
  }
}

function takeLast<T>(list: readonly T[], count: number): readonly T[] {
  return list.slice(Math.max(0, list.length - count))
}

function assertBounds({
  maxEntriesPerScope,
  maxAgeMs,
}: Required<Omit<InMemoryStoreOptions, 'clock'>>): void {
  const problems: string[] = []
  const isWhole = Number.isInteger(maxEntriesPerScope) || maxEntriesPerScope === Infinity
  if (!isWhole || maxEntriesPerScope < 1) {
    problems.push(
      `maxEntriesPerScope must be an integer >= 1 or Infinity, got ${maxEntriesPerScope}`,
    )
  }
  if (!(maxAgeMs > 0)) problems.push(`maxAgeMs must be > 0, got ${maxAgeMs}`)
  if (problems.length > 0)
    throw new RangeError(`Cannot create a memory store: ${problems.join('; ')}`)
}

function assertInstant(storedAt: string): void {
  if (!Number.isNaN(Date.parse(storedAt))) return
  throw new RangeError(
    `Cannot store a memory: storedAt must be an ISO 8601 instant, got ${JSON.stringify(storedAt)}`,
  )
}
