/**
 * The connections of a store: a pool and transactions.
 *
 * RUNS-D1 A lost connection, in use or idle, never ends the process. Its statements throw STORE_UNAVAILABLE, and
 *    the server rolls back its open transaction.
 * RUNS-D2 Statements have time limits on both sides: a paused process does not hold a lock for long, and an
 *    unresponsive database is noticed.
 * RUNS-D5 Reads for people have separate connections. The server ends a slow one, which throws QUERY_TOO_SLOW;
 *    leases, claims and commits never wait for it, and the store stays available.
 * RUNS-D3 Transactions that meet a deadlock, and statements that were prepared before a newer version changed the
 *    tables, are retried.
 *
 * Behind a connection pooler, settings apply to one transaction only. A direct connection keeps its time limit.
 */
import { Pool, type PoolClient, type QueryResultRow } from 'pg'

import {
  classifyError,
  isTooSlow,
  lacksSchemaPart,
  queryTooSlow,
  unavailable,
} from './connection-errors.ts'
import { connectionOptions, destroy, hashName, quoteName, awaitClosing } from './connections.ts'

import type { ResolvedPostgresRunStorageOptions } from './options.ts'
import type { StoredRow } from '../../shared/column-reader.ts'
import type { Statement, StatementRunner } from '../../shared/schema/dialect.ts'

/** Runs statements: each in a separate transaction, or all in one. */
export interface DatabaseSession {
  /** The quoted name of the schema. */
  readonly schema: string
  query(sql: string, values?: readonly unknown[]): Promise<readonly StoredRow[]>
}

/**
 * Locks that last until the end of a transaction: one of each kind per schema, and `actor` one per actor. Code that
 * counts rows to enforce a limit holds one.
 */
export const LOCKS = {
  migrate: 0x7475_0001,
  create: 0x7475_0003,
  actor: 0x7475_0004,
  audit: 0x7475_0005,
  retention: 0x7475_0006,
  externalEvents: 0x7475_0007,
} as const

export interface TransactionOptions {
  /** Lock to take first: one of {@link LOCKS}. */
  readonly lock?: number
  /** Whether the lock is shared. @default false */
  readonly shares?: boolean
  /** Actor whose lock is taken after it. */
  readonly actor?: string
  /** Whether it may run for long and wait long for its lock. @default false */
  readonly waits?: boolean
}

/** Options of {@link Database}. */
export interface DatabaseOptions extends Pick<
  ResolvedPostgresRunStorageOptions,
  'connectionString' | 'schema' | 'maxConnections' | 'preparedStatements' | 'isPooled' | 'logger'
> {
  /** Called whenever a statement finds its connection lost. */
  readonly onLost: (error: unknown) => void
  /**
   * Time after which the server ends a statement outside of a transaction, which then throws QUERY_TOO_SLOW, in
   * milliseconds. @default no limit on the server
   */
  readonly queryLimitMs?: number
  /** Whether it is a replica, which applies migrations later than the primary. @default false */
  readonly isReplica?: boolean
  /** Settings of the planner, as options of a connection. A connection pooler ignores them. @default those of the server */
  readonly planner?: string
  /** Number of connections that are kept open while they are idle. @default 0 */
  readonly minConnections?: number
  /** Time limit of a statement in the driver, and of a transaction that waits, in milliseconds. @default 15 s */
  readonly limitMs?: number
}

/** Limits in milliseconds. */
const STATEMENT_LIMIT_MS = 12_000
const QUERY_LIMIT_MS = 15_000
const LOCK_LIMIT_MS = 5_000
/** A process that is paused within a transaction loses it, and its locks, after this time. */
const IDLE_LIMIT_MS = 5_000

/** Setting of every connection: JIT compilation of a plan that looks expensive takes longer than running it. */
const NO_JIT = '-c jit=off'

/**
 * Settings of a connection that plans each statement once, for all values, and with an index. Without them, the server
 * plans a large statement at each call, or reads a whole table that was small at the first call.
 */
export const PLAN_ONCE = '-c plan_cache_mode=force_generic_plan -c enable_seqscan=off'

/**
 * Settings of a connection that lists runs. A list reads few rows of large tables by an index, whose pages are mostly in
 * memory. With the default cost of such a read, the server walks the newest runs even if few of them match, or reads a
 * whole table. To start other processes for it takes longer than a list.
 */
export const PLAN_LISTS = '-c random_page_cost=1.1 -c max_parallel_workers_per_gather=0'

/** Maximum number of attempts: more than the default pool has connections, as all may be stale. */
const TRIES = 12

const LIMITS = limits(LOCK_LIMIT_MS, STATEMENT_LIMIT_MS, IDLE_LIMIT_MS)

/** The connections of a store. */
export class Database implements DatabaseSession, StatementRunner {
  readonly schema: string
  /** Distinguishes the locks of this schema from those of others. */
  readonly lockKey: number
  readonly #options: DatabaseOptions
  readonly #pool: Pool
  readonly #clients = new Set<PoolClient>()

  constructor(options: DatabaseOptions) {
    const { queryLimitMs, isPooled, planner = '', logger } = options
    this.schema = quoteName(options.schema)
    this.lockKey = hashName(options.schema).readInt32BE()
    this.#options = options
    this.#pool = new Pool({
      ...connectionOptions(options.connectionString),
      max: options.maxConnections,
      min: options.minConnections ?? 0,
      query_timeout: options.limitMs ?? QUERY_LIMIT_MS,
      ...(isPooled ? {} : { lock_timeout: options.limitMs ?? LOCK_LIMIT_MS }),
      ...(queryLimitMs === undefined || isPooled ? {} : { statement_timeout: queryLimitMs }),
      ...(isPooled ? {} : { options: `${NO_JIT} ${planner}` }),
    })
    this.#pool.on('error', (error) => {
      logger.warn('Lost an idle connection to Postgres', { error })
    })
    this.#pool.on('connect', (client) => {
      this.#clients.add(client)
      // Without a listener, the loss of a connection in use would end the process.
      client.on('error', () => undefined)
    })
    this.#pool.on('remove', (client) => this.#clients.delete(client))
  }

  /**
   * Runs one statement.
   *
   * @throws {TuttiError} STORE_UNAVAILABLE when the database cannot be reached; QUERY_TOO_SLOW when it takes longer than
   * `queryLimitMs`, or waits too long for a connection.
   */
  async query(sql: string, values: readonly unknown[] = []): Promise<readonly StoredRow[]> {
    const { queryLimitMs, isPooled } = this.#options
    const begin = `BEGIN; SET LOCAL statement_timeout = ${queryLimitMs ?? 0}`
    const query = (client: PoolClient): Promise<readonly StoredRow[]> =>
      queryLimitMs !== undefined && isPooled
        ? this.#transact(client, { begin, body: (session) => session.query(sql, values) })
        : this.#run(client, sql, values).then(({ rows }) => rows)
    return this.#retry(query).catch((error: unknown) => {
      const isSlow = queryLimitMs !== undefined && isTooSlow(error)
      throw isSlow ? queryTooSlow(queryLimitMs) : this.#toCallerError(error)
    })
  }

  /**
   * Runs one statement that may wait for locks, as long as a transaction may. Through a pooler, which keeps no setting of
   * a session, it is a transaction.
   *
   * @throws {TuttiError} STORE_UNAVAILABLE when the database cannot be reached, or the statement took too long.
   */
  async change(sql: string, values: readonly unknown[]): Promise<readonly StoredRow[]> {
    if (this.#options.isPooled) {
      return this.transaction({}, (session) => session.query(sql, values))
    }
    return this.#retry(async (client) => (await this.#run(client, sql, values)).rows).catch(
      (error: unknown) => {
        throw this.#toCallerError(error)
      },
    )
  }

  /**
   * Runs a transaction, and retries it after a deadlock.
   *
   * @throws {TuttiError} STORE_UNAVAILABLE when the database cannot be reached; it is then unknown whether the
   * transaction was committed.
   */
  async transaction<T>(
    { lock, shares = false, actor, waits = false }: TransactionOptions,
    body: (session: DatabaseSession) => Promise<T>,
  ): Promise<T> {
    const locks = `pg_advisory_xact_lock${shares ? '_shared' : ''}`
    const locking = lock === undefined ? '' : `; SELECT ${locks}(${lock}, ${this.lockKey})`
    const acting = actor === undefined ? '' : `; ${this.#lockActor(actor)}`
    const { limitMs = QUERY_LIMIT_MS } = this.#options
    const begin = `BEGIN; ${waits ? limits(limitMs, limitMs, limitMs) : LIMITS}${locking}${acting}`
    return this.#retry((client) => this.#transact(client, { begin, body })).catch(
      (error: unknown) => {
        throw this.#toCallerError(error)
      },
    )
  }

  #lockActor(actor: string): string {
    const key = hashName(`${this.schema} ${actor}`).readInt32BE()
    return `SELECT pg_advisory_xact_lock(${LOCKS.actor}, ${key})`
  }

  /** Executes statements in one transaction. */
  async changeAll(statements: readonly Statement[]): Promise<void> {
    await this.transaction({}, async (session) => {
      for (const [sql, ...values] of statements) await session.query(sql, values)
    })
  }

  /** Closes all connections, within a second even if the database does not answer. */
  async close(): Promise<void> {
    await awaitClosing(this.#pool.end())
    for (const client of this.#clients) destroy(client)
  }

  /** Runs `use` with a connection, and retries errors that can pass. */
  async #retry<T>(use: (client: PoolClient) => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#useConnection(use)
      } catch (error) {
        const trouble = classifyError(error)
        const mayHelp = trouble === 'collision' || trouble === 'stale'
        if (attempt === TRIES || !mayHelp) throw error
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

  /** Runs `use` with a connection. A lost or stale connection is not used again. */
  async #useConnection<T>(use: (client: PoolClient) => Promise<T>): Promise<T> {
    let client: PoolClient | undefined
    try {
      client = await this.#pool.connect()
      const result = await use(client)
      client.release()
      return result
    } catch (error) {
      const trouble = classifyError(error)
      client?.release(trouble === 'lost' || trouble === 'stale')
      if (trouble === 'lost') this.#options.onLost(error)
      throw error
    }
  }

  #run(client: PoolClient, sql: string, values: readonly unknown[]) {
    const text = this.#translate(sql)
    const query = { text, values: [...values] }
    // A text without values may be several statements, which cannot be prepared.
    const isPrepared = this.#options.preparedStatements && values.length > 0
    return client.query<QueryResultRow>(
      isPrepared ? { ...query, name: statementName(text) } : query,
    )
  }

  /** Translates a statement of `dialect.ts`. */
  #translate(sql: string): string {
    if (!sql.includes('$schema.')) return sql
    return sql
      .replaceAll('$schema.', () => `${this.schema}.`)
      .replaceAll('$now', 'clock_timestamp()')
  }

  /** Converts an error of the driver to an error for the caller. */
  #toCallerError(error: unknown): unknown {
    const { connectionString, isReplica = false } = this.#options
    const passes = classifyError(error) !== 'none' || (isReplica && lacksSchemaPart(error))
    return passes ? unavailable(error, connectionString) : error
  }
}

/** Names of the statements so far. There are only dozens, because their texts contain no values. */
const statementNames = new Map<string, string>()

/** Returns the name of a statement, the same in every process, within the 63 bytes that Postgres allows. */
function statementName(text: string): string {
  const known = statementNames.get(text)
  if (known !== undefined) return known
  const name = `tutti_${hashName(text).toString('hex').slice(0, 32)}`
  statementNames.set(text, name)
  return name
}

function limits(lockMs: number, statementMs: number, idleMs: number): string {
  return (
    `SET LOCAL lock_timeout = ${lockMs}; SET LOCAL statement_timeout = ${statementMs}; ` +
    `SET LOCAL idle_in_transaction_session_timeout = ${idleMs}`
  )
}
