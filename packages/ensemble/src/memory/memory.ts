/**
 * Memory: findings of tasks, stored under the name of a scope for later tasks and later runs.
 *
 *   task completed ─append─▶ store ─retrieve─▶ section "Memory: <scope>" of a later prompt
 *
 * The engine knows stores only through this port: `inMemoryStore`, or the database of a server.
 *
 * ENS-M1 A prompt has at most `limit` entries of a scope, the most relevant ones by the order of the store.
 * ENS-M2 Entries are shown in full and in the order of the store, each with its task, its agent and its time.
 */
import { findUnknownOptions, type OptionNames } from '@tutti/core'

/** A stored output of a task. */
export interface MemoryEntry {
  /** The output of the task. */
  readonly text: string
  /** ISO 8601 in UTC. */
  readonly storedAt: string
  readonly taskName: string
  readonly agentRole: string
  readonly runId?: string
}

/** A query for entries. */
export interface MemoryQuery {
  /** The description of the task that will read it, for stores that search by meaning. */
  readonly query: string
  /** Entries at most. */
  readonly limit: number
}

/** Keeps entries by scope. Scopes share nothing. */
export interface MemoryStore {
  /** Resolves when the entry is as durable as this store makes it. */
  append(scope: string, entry: MemoryEntry): Promise<void>
  /** The entries that fit best, at most `limit`, in chronological order; none for an unknown scope. */
  retrieve(scope: string, query: MemoryQuery): Promise<readonly MemoryEntry[]>
}

/** A named part of a store that a task reads before it begins and writes to when it is completed. */
export interface MemoryScope {
  readonly name: string
  /** Absent for the store of the run. */
  readonly store?: MemoryStore
  /** Entries that a prompt shows at most. */
  readonly limit: number
}

/** The definition of a scope by its author. */
export interface MemoryScopeDefinition {
  /** Not blank. */
  readonly name: string
  /**
   * Where its entries are.
   * @default the store of the run: the database of a server; without one, `memories` of the run options
   */
  readonly store?: MemoryStore
  /** At least 1. @default 5 */
  readonly limit?: number
}

const SCOPE_NAMES = {
  name: true,
  store: true,
  limit: true,
} as const satisfies OptionNames<MemoryScopeDefinition>

/** AgentEnsemble's. */
const DEFAULT_LIMIT = 5

/**
 * Makes a scope.
 *
 * @throws {TypeError} naming everything of the definition that does not fit.
 */
export function memoryScope(definition: MemoryScopeDefinition): MemoryScope {
  const { name, store, limit = DEFAULT_LIMIT } = definition
  const problems = [...findUnknownOptions(definition, SCOPE_NAMES)]
  if (typeof name !== 'string' || name.trim() === '') {
    problems.push(`name must be a text that is not blank, got ${JSON.stringify(name)}`)
  }
  // A definition of plain JavaScript may hold anything.
  const { append, retrieve }: Partial<MemoryStore> = store ?? {}
  if (store !== undefined && (typeof append !== 'function' || typeof retrieve !== 'function')) {
    problems.push('store must have append and retrieve, such as inMemoryStore()')
  }
  if (!Number.isInteger(limit) || limit < 1) {
    problems.push(`limit must be an integer >= 1, got ${limit}`)
  }
  if (problems.length === 0) return { name, limit, ...(store === undefined ? {} : { store }) }
  throw new TypeError(`Cannot make a memory scope: ${problems.join('; ')}`)
}

/** The body of the section of a prompt that shows what a scope holds; empty without entries. */
export function memorySection(entries: readonly MemoryEntry[]): string {
  return entries
    .map(
      ({ text, storedAt, taskName, agentRole }) =>
        `### ${agentRole}: ${taskName} (${storedAt})\n${text}\n---`,
    )
    .join('\n')
}
