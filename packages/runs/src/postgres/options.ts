/** Settings of the Postgres store. */
import { silentLogger, type Logger } from '@tutti/core'

/** Options of the Postgres store. */
export interface PostgresRunStorageOptions {
  /** `postgres://user:password@host:port/database`. */
  readonly connectionString: string
  /**
   * URL of the same database for LISTEN. Must be a direct connection if `connectionString` leads to a pooler in
   * transaction mode. @default connectionString
   */
  readonly listenConnectionString?: string
  /** The schema of the tables; created if it does not exist. @default 'tutti' */
  readonly schema?: string
  /**
   * Whether statements are prepared once per connection, which saves a third of the time. Poolers in transaction mode
   * must support prepared statements, as PgBouncer does since 1.21. @default true unless `listenConnectionString` is given
   */
  readonly preparedStatements?: boolean
  /** Maximum number of connections, in addition to the one that listens. @default 10 */
  readonly maxConnections?: number
  /** Logs lost connections. @default no logging */
  readonly logger?: Logger
}

/** {@link PostgresRunStorageOptions} with every value present. */
export type ResolvedPostgresRunStorageOptions = Required<PostgresRunStorageOptions>

const DEFAULTS = {
  schema: 'tutti',
  // Enough for a process with some hundred runs, because commits are batched. Nine processes stay within the 100
  // connections that a server allows by default.
  maxConnections: 10,
  logger: silentLogger,
}

/** Maximum length of an identifier in Postgres, in bytes. */
const LONGEST_NAME = 63

/** @throws {RangeError} naming every option that is out of range. */
export function resolvePostgresRunStorageOptions(
  options: PostgresRunStorageOptions,
): ResolvedPostgresRunStorageOptions {
  const { connectionString, listenConnectionString = connectionString } = options
  const preparedStatements = options.listenConnectionString === undefined
  const resolved = { ...DEFAULTS, preparedStatements, ...options, listenConnectionString }
  const problems = [
    ...findUrlProblems({ connectionString, listenConnectionString }),
    ...findSchemaProblems(resolved.schema),
    ...(Number.isInteger(resolved.maxConnections) && resolved.maxConnections >= 1
      ? []
      : [`maxConnections must be an integer >= 1, got ${resolved.maxConnections}`]),
  ]
  if (problems.length > 0) {
    throw new RangeError(`Cannot open the Postgres run store: ${problems.join('; ')}`)
  }
  return resolved
}

function findSchemaProblems(schema: string): readonly string[] {
  const bytes = new TextEncoder().encode(schema).length
  return bytes >= 1 && bytes <= LONGEST_NAME && !schema.startsWith('pg_') && !schema.includes('\0')
    ? []
    : [`schema must be a name of 1 to ${LONGEST_NAME} bytes that does not start with "pg_"`]
}

/** Finds invalid URLs. The problems do not show the values, because they contain passwords. */
function findUrlProblems(urls: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(urls).flatMap(([name, url]) =>
    /^postgres(ql)?:\/\//.test(url) && URL.canParse(url)
      ? []
      : [`${name} must be a URL such as postgres://user:password@host:5432/database`],
  )
}
