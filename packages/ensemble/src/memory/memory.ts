/**
 * Memory: outputs of tasks, stored under the name of a scope for later tasks and runs.
 *
 *   task completed ─append─▶ store ─retrieve─▶ section "Memory: <scope>" of a later prompt
 *
 * The engine accesses stores only through this port: `inMemoryStore`, or the database of a server.
 *
 * ENS-M1 A prompt has at most `limit` entries of a scope, the most relevant ones by the order of the store.
 * ENS-M2 Entries are shown in full and in the order of the store, each with its task, its agent and its time.
 */
import { findOptionProblems, type OptionNames } from '@tutti/core/internal'

/** A stored output of a task. */
export interface MemoryEntry {
  /** Output of the task. */
  readonly text: string
  /** Time at which the entry was stored, as ISO 8601 in UTC. */
  readonly storedAt: string
  readonly taskName: string
  readonly agentRole: string
  readonly runId?: string
}

/** Query for entries. */
export interface MemoryQuery {
  /** Description of the task that will read the entries, for stores with semantic search. */
  readonly query: string
  /** Maximum number of entries. */
  readonly limit: number
}

/** Stores entries by scope. Scopes are independent of each other. */
export interface MemoryStore {
  /** Appends an entry; resolves when it is as durable as this store makes it. */
  append(scope: string, entry: MemoryEntry): Promise<void>
  /**
   * Returns the most relevant entries, at most `limit`, in chronological order; none for an unknown scope.
   */
  retrieve(scope: string, query: MemoryQuery): Promise<readonly MemoryEntry[]>
}

/** A named part of a store. A task reads it before it begins and writes to it when it completes. */
export interface MemoryScope {
  readonly name: string
  /** Store of the entries; absent for the store of the run. */
  readonly store?: MemoryStore
  /** Maximum number of entries in a prompt. */
  readonly limit: number
}

/** Definition of a scope by its author. */
export interface MemoryScopeDefinition {
  /** Name of the scope; must not be blank. */
  readonly name: string
  /**
   * Store of the entries.
   * @default the store of the run: the database of a server; without one, `memories` of the run options
   */
  readonly store?: MemoryStore
  /** Maximum number of entries in a prompt, at least 1. @default 5 */
  readonly limit?: number
}

const SCOPE_NAMES = {
  name: true,
  store: true,
  limit: true,
} as const satisfies OptionNames<MemoryScopeDefinition>

/** Default maximum number of entries in a prompt. */
const DEFAULT_LIMIT = 5

/**
 * Creates a memory scope.
 *
 * @throws {TypeError} naming every problem of the definition.
 */
export function memoryScope(definition: MemoryScopeDefinition): MemoryScope {
  const { name, store, limit = DEFAULT_LIMIT } = definition
  const problems = [...findOptionProblems(definition, SCOPE_NAMES)]
  if (typeof name !== 'string' || name.trim() === '') {
    problems.push(`name must be a text that is not blank, got ${JSON.stringify(name)}`)
  }
  // A definition in plain JavaScript can contain anything.
  const { append, retrieve }: Partial<MemoryStore> = store ?? {}
  if (store !== undefined && (typeof append !== 'function' || typeof retrieve !== 'function')) {
    problems.push('store must have append and retrieve, such as inMemoryStore()')
  }
  if (!Number.isInteger(limit) || limit < 1) {
    problems.push(`limit must be an integer >= 1, got ${limit}`)
  }
  if (problems.length === 0) return { name, limit, ...(store === undefined ? {} : { store }) }
  throw new TypeError(`Cannot create a memory scope: ${problems.join('; ')}`)
}

/** Returns the body of the section of a prompt that shows entries; empty without entries. */
export function renderMemories(entries: readonly MemoryEntry[]): string {
  return entries
    .map(
      ({ text, storedAt, taskName, agentRole }) =>
        `### ${agentRole}: ${taskName} (${storedAt})\n${text}\n---`,
    )
    .join('\n')
}
