/** Settings of the Postgres store. */
import { silentLogger, type Logger } from '@tutti/core'

/** Where the store is, and how it is used. */
export interface PostgresRunStorageOptions {
  /** `postgres://user:password@host:port/database`. */
  readonly connectionString: string
  /**
   * Of the same database, for LISTEN: a direct one when `connectionString` leads to a pooler that gives a
   * connection for one transaction only. @default connectionString
   */
  readonly listenConnectionString?: string
  /** The schema that holds the tables; made when it is not there. @default 'tutti' */
  readonly schema?: string
  /**
   * Whether statements are prepared once a connection, which saves a third of the time. Poolers that give a
   * connection for one transaction only have to know of them, as PgBouncer does since 1.21.
   * @default whether `listenConnectionString` is not given
   */
  readonly preparedStatements?: boolean
  /** Connections at the same time, besides the one that listens. @default 10 */
  readonly maxConnections?: number
  /** Where lost connections are told of. @default none */
  readonly logger?: Logger
}

/** Settings with nothing left open. */
export type ResolvedPostgresRunStorageOptions = Required<PostgresRunStorageOptions>

const DEFAULTS = {
  schema: 'tutti',
  // Enough for a process of some hundred runs, as commits go in batches; ten processes stay below the
  // 100 connections that a server has by default.
  maxConnections: 10,
  logger: silentLogger,
}

/** How many bytes of a name Postgres keeps. */
const LONGEST_NAME = 63

/** @throws {RangeError} naming every option that is out of range. */
export function resolvePostgresRunStorageOptions(
  options: PostgresRunStorageOptions,
): ResolvedPostgresRunStorageOptions {
  const { connectionString, listenConnectionString = connectionString } = options
  const preparedStatements = options.listenConnectionString === undefined
  const resolved = { ...DEFAULTS, preparedStatements, ...options, listenConnectionString }
  const problems = [
    ...urlProblems({ connectionString, listenConnectionString }),
    ...schemaProblems(resolved.schema),
    ...(Number.isInteger(resolved.maxConnections) && resolved.maxConnections >= 1
      ? []
      : [`maxConnections must be an integer >= 1, got ${resolved.maxConnections}`]),
  ]
  if (problems.length > 0) {
    throw new RangeError(`Cannot open the Postgres run store: ${problems.join('; ')}`)
  }
  return resolved
}

function schemaProblems(schema: string): readonly string[] {
  const bytes = new TextEncoder().encode(schema).length
  return bytes >= 1 && bytes <= LONGEST_NAME && !schema.startsWith('pg_') && !schema.includes('\0')
    ? []
    : [`schema must be a name of 1 to ${LONGEST_NAME} bytes that begins otherwise than "pg_"`]
}

/** The values are not shown: they hold passwords. */
function urlProblems(urls: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(urls).flatMap(([name, url]) =>
    /^postgres(ql)?:\/\//.test(url) && URL.canParse(url)
      ? []
      : [`${name} must be a URL such as postgres://user:password@host:5432/database`],
  )
}
