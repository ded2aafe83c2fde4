/** Settings of the Postgres store. */
import type { Logger } from '@tutti/core'
import { silentLogger } from '@tutti/core/internal'

import type { ConnectEngine } from '../../../ports/dispatch-engine.ts'

/** The database, its connections and limits. Only `connectionString` is required. */
export interface PostgresRunStorageOptions {
  /** `postgres://user:password@host:port/database`. */
  readonly connectionString: string
  /**
   * URL of the same database for LISTEN. Must be a direct connection if `connectionString` leads to a pooler in
   * transaction mode. @default connectionString
   */
  readonly listenConnectionString?: string
  /**
   * URL of a replica for lists, searches and totals. They may then lag behind by as much as the replica does.
   * @default connectionString
   */
  readonly readConnectionString?: string
  /** The schema of the tables; created if it does not exist. @default 'tutti' */
  readonly schema?: string
  /**
   * Whether statements are prepared once per connection, which saves a third of the time. Poolers in transaction mode
   * must support prepared statements, as PgBouncer does since 1.21. @default true unless `listenConnectionString` is
   * set
   */
  readonly preparedStatements?: boolean
  /**
   * Maximum number of connections, at least 3, in addition to the one that listens. Leases and commits, requests, and
   * lists have about a third each, so that none waits for the others. @default 10
   */
  readonly maxConnections?: number
  /**
   * Time after which the server ends a read that a person or a client asked for, in milliseconds. It then throws
   * QUERY_TOO_SLOW. @default 5000
   */
  readonly queryLimitMs?: number
  /** Logs lost connections. @default no logging */
  readonly logger?: Logger
  /** Engine that dispatches runs and carries notifications, while it can be reached. @default the database */
  readonly engine?: ConnectEngine
}

/** {@link PostgresRunStorageOptions} with every value present. */
export interface ResolvedPostgresRunStorageOptions
  extends
    Required<Omit<PostgresRunStorageOptions, 'engine'>>,
    Pick<PostgresRunStorageOptions, 'engine'> {
  /** Whether a pooler in transaction mode may be in between, so that no setting of a connection lasts. */
  readonly isPooled: boolean
}

const DEFAULTS = {
  schema: 'tutti',
  // Enough for a process with some hundred runs, because commits are batched. Nine processes stay within the 100
  // connections that a server allows by default.
  maxConnections: 10,
  queryLimitMs: 5_000,
  logger: silentLogger,
}

/** Greatest number that PostgreSQL accepts for `max_connections`. */
const MAX_CONNECTIONS = 262_143

/** Greatest integer of PostgreSQL's settings, such as `statement_timeout`. */
const MAX_INTEGER = 2_147_483_647

/** Maximum length of an identifier in Postgres, in bytes. */
const MAX_NAME_LENGTH = 63

/** @throws {RangeError} naming every option that is out of range. */
export function resolvePostgresRunStorageOptions(
  options: PostgresRunStorageOptions,
): ResolvedPostgresRunStorageOptions {
  const { connectionString, listenConnectionString = connectionString } = options
  const { readConnectionString = connectionString } = options
  const isPooled = options.listenConnectionString !== undefined
  const resolved = {
    ...DEFAULTS,
    preparedStatements: !isPooled,
    ...options,
    isPooled,
    listenConnectionString,
    readConnectionString,
  }
  const problems = [
    ...findUrlProblems({ connectionString, listenConnectionString, readConnectionString }),
    ...findSchemaProblems(resolved.schema),
    ...findNumberProblems('maxConnections', resolved.maxConnections, {
      least: 3,
      most: MAX_CONNECTIONS,
    }),
    ...findNumberProblems('queryLimitMs', resolved.queryLimitMs, { least: 1, most: MAX_INTEGER }),
  ]
  if (problems.length > 0) {
    throw new RangeError(`Cannot open the Postgres run store: ${problems.join('; ')}`)
  }
  return resolved
}

function findNumberProblems(
  name: string,
  value: number,
  { least, most }: { readonly least: number; readonly most: number },
): readonly string[] {
  return Number.isInteger(value) && value >= least && value <= most
    ? []
    : [`${name} must be an integer >= ${least} and <= ${most}, got ${value}`]
}

function findSchemaProblems(schema: string): readonly string[] {
  const bytes = new TextEncoder().encode(schema).length
  return bytes >= 1 &&
    bytes <= MAX_NAME_LENGTH &&
    !schema.startsWith('pg_') &&
    !schema.includes('\0')
    ? []
    : [`schema must be a name of 1 to ${MAX_NAME_LENGTH} bytes that does not start with "pg_"`]
}

/** Finds invalid URLs. The problems do not show the values, because they contain passwords. */
function findUrlProblems(urls: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(urls).flatMap(([name, url]) =>
    /^postgres(ql)?:\/\//.test(url) && URL.canParse(url)
      ? []
      : [`${name} must be a URL such as postgres://user:password@host:5432/database`],
  )
}
