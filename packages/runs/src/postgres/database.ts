/**
 * The connections of a store: a pool, transactions, and whether the database can be reached.
 *
 * RUNS-D1 A lost connection, in use or idle, never ends the process. Its statements throw STORE_UNAVAILABLE, and
 *    the server rolls back its open transaction.
 * RUNS-D2 Statements have time limits on both sides: a paused process does not hold a lock for long, and an
 *    unresponsive database is noticed.
 * RUNS-D3 Transactions that meet a deadlock, and statements that were prepared before a newer version changed the
 *    tables, are retried.
 *
 * Session settings apply to one transaction only, so that a connection pooler can be in between.
 */
import { Pool, type PoolClient, type QueryResultRow } from 'pg'

import { classifyError, unavailable } from './connection-errors.ts'
import { connectionOptions, destroy, hashName, quoteName, waitForEnd } from './connections.ts'

import type { ResolvedPostgresRunStorageOptions } from './options.ts'
import type { Logger } from '@tutti/core'

/** A row as the driver gives it. */
export type PostgresRow = Readonly<Record<string, unknown>>

/** Where statements run: each in a transaction of its own, or all in one. */
export interface DatabaseSession {
  /** The quoted name of the schema. */
  readonly schema: string
  query(sql: string, values?: readonly unknown[]): Promise<readonly PostgresRow[]>
}

/**
 * Locks that last until the end of a transaction, one a schema, and `actor` one an actor: whoever counts
 * holds one.
 */
export const LOCKS = {
  migrate: 0x7475_0001,
  claim: 0x7475_0002,
  create: 0x7475_0003,
  actor: 0x7475_0004,
  audit: 0x7475_0005,
} as const

/** How a transaction runs. */
export interface TransactionOptions {
  /** Taken first, one of {@link LOCKS}. */
  readonly lock?: number
  /** Whether others may have the lock too that share it. @default false */
  readonly shares?: boolean
  /** Whose lock is taken after it, for whoever counts what this one has. */
  readonly actor?: string
  /** Whether it may wait long for its lock. @default false */
  readonly waits?: boolean
}

/** Limits in milliseconds. */
const STATEMENT_LIMIT_MS = 12_000
const QUERY_LIMIT_MS = 15_000
const LOCK_LIMIT_MS = 5_000
/** A process that is paused within a transaction loses it, and its locks, after this. */
const IDLE_LIMIT_MS = 5_000
const MIGRATION_LIMIT_MS = 120_000

/** How often something is tried again: more often than a pool has connections that may be stale. */
const TRIES = 12

const LIMITS = limits(LOCK_LIMIT_MS, STATEMENT_LIMIT_MS)
const LONG_LIMITS = limits(MIGRATION_LIMIT_MS, MIGRATION_LIMIT_MS)

/** The connections of a store. */
export class Database implements DatabaseSession {
  readonly schema: string
  /** Tells the locks of this schema from those of others. */
  readonly lockKey: number
  readonly #connectionString: string
  readonly #pool: Pool
  readonly #clients = new Set<PoolClient>()
  readonly #onLost: (error: unknown) => void
  readonly #logger: Logger
  readonly #isPreparing: boolean

  /** `onLost` is called whenever a statement meets a lost connection. */
  constructor(
    options: Pick<
      ResolvedPostgresRunStorageOptions,
      'connectionString' | 'schema' | 'maxConnections' | 'preparedStatements' | 'logger'
    >,
    onLost: (error: unknown) => void,
  ) {
    this.schema = quoteName(options.schema)
    this.#connectionString = options.connectionString
    this.lockKey = hashName(options.schema).readInt32BE()
    this.#logger = options.logger
    this.#isPreparing = options.preparedStatements
    this.#onLost = onLost
    this.#pool = new Pool({
      ...connectionOptions(options.connectionString),
      max: options.maxConnections,
      query_timeout: QUERY_LIMIT_MS,
    })
    this.#pool.on('error', (error) => {
      this.#logger.warn('Lost an idle connection to Postgres', { error })
    })
    this.#pool.on('connect', (client) => {
      this.#clients.add(client)
      // Without a listener the loss of a connection that is in use would end the process.
      client.on('error', () => undefined)
    })
    this.#pool.on('remove', (client) => this.#clients.delete(client))
  }

  /** Runs one statement. @throws {TuttiError} STORE_UNAVAILABLE when the database cannot be reached. */
  async query(sql: string, values: readonly unknown[] = []): Promise<readonly PostgresRow[]> {
    return this.#tried(async (client) => (await this.#run(client, sql, values)).rows)
  }

  /**
   * Runs a transaction, again when it meets a deadlock.
   *
   * @throws {TuttiError} STORE_UNAVAILABLE when the database cannot be reached; whether the transaction
   * was kept is not known then.
   */
  async transaction<T>(
    { lock, shares = false, actor, waits = false }: TransactionOptions,
    body: (session: DatabaseSession) => Promise<T>,
  ): Promise<T> {
    const locks = `pg_advisory_xact_lock${shares ? '_shared' : ''}`
    const locking = lock === undefined ? '' : `; SELECT ${locks}(${lock}, ${this.lockKey})`
    const acting = actor === undefined ? '' : `; ${this.#lockOfActor(actor)}`
    const begin = `BEGIN; ${waits ? LONG_LIMITS : LIMITS}${locking}${acting}`
    return this.#tried((client) => this.#transact(client, { begin, body }))
  }

  #lockOfActor(actor: string): string {
    const key = hashName(`${this.schema} ${actor}`).readInt32BE()
    return `SELECT pg_advisory_xact_lock(${LOCKS.actor}, ${key})`
  }

  /** Lets go of all connections; within a second also when the database does not answer. */
  async close(): Promise<void> {
    await waitForEnd(this.#pool.end())
    for (const client of this.#clients) destroy(client)
  }

  /** Gives a connection to `use`, again when that can help. */
  async #tried<T>(use: (client: PoolClient) => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#guarded(use)
      } catch (error) {
        const trouble = classifyError(error)
        const mayHelp = trouble === 'collision' || trouble === 'stale'
        if (attempt === TRIES || !mayHelp) throw this.#told(error)
      }
    }
  }

  async #transact<T>(
    client: PoolClient,
    { begin, body }: { begin: string; body: (session: DatabaseSession) => Promise<T> },
  ): Promise<T> {
    try {
      await client.query(begin)
      const result = await body({
        schema: this.schema,
        query: async (sql, values = []) => (await this.#run(client, sql, values)).rows,
      })
      await client.query('COMMIT')
      return result
    } catch (error) {
      if (classifyError(error) !== 'lost') await client.query('ROLLBACK')
      throw error
    }
  }

  /** Gives a connection to `use`; one that was lost is not used again. */
  async #guarded<T>(use: (client: PoolClient) => Promise<T>): Promise<T> {
    let client: PoolClient | undefined
    try {
      client = await this.#pool.connect()
      const result = await use(client)
      client.release()
      return result
    } catch (error) {
      const trouble = classifyError(error)
      client?.release(trouble === 'lost' || trouble === 'stale')
      if (trouble === 'lost') this.#onLost(error)
      throw error
    }
  }

  #run(client: PoolClient, text: string, values: readonly unknown[]) {
    const query = { text, values: [...values] }
    // What has no values may be several statements, which cannot be prepared.
    const isPrepared = this.#isPreparing && values.length > 0
    return client.query<QueryResultRow>(
      isPrepared ? { ...query, name: statementName(text) } : query,
    )
  }

  /** What a caller gets to see of an error. */
  #told(error: unknown): unknown {
    return classifyError(error) === 'none' ? error : unavailable(error, this.#connectionString)
  }
}

/** Names of statements that were made so far: there are some dozens, as their texts hold no values. */
const statementNames = new Map<string, string>()

/** A name that the same text has in every process; a server keeps 63 bytes of it. */
function statementName(text: string): string {
  const known = statementNames.get(text)
  if (known !== undefined) return known
  const name = `tutti_${hashName(text).toString('hex').slice(0, 32)}`
  statementNames.set(text, name)
  return name
}

function limits(lockMs: number, statementMs: number): string {
  return (
    `SET LOCAL lock_timeout = ${lockMs}; SET LOCAL statement_timeout = ${statementMs}; ` +
    `SET LOCAL idle_in_transaction_session_timeout = ${IDLE_LIMIT_MS}`
  )
}
