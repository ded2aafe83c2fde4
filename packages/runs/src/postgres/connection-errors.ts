/** Pure: which errors say that the database cannot be reached, and how that is told without a secret. */
import { errorMessage, TuttiError } from '@tutti/core'

/**
 * Classes of SQLSTATE that say nothing about what was written: connection, transaction state, sign-in,
 * rollback, resources, object state (locks), operator intervention, system, no such database.
 *
 * @see https://www.postgresql.org/docs/current/errcodes-appendix.html
 */
const PASSING_CLASSES = new Set(['08', '25', '28', '40', '53', '55', '57', '58', '3D'])

/** Of those, the ones after which the server is there all the same. */
const SERVER_IS_THERE = new Set(['25', '40', '53', '55', '58'])

/** A query that was given up, by a limit of the server or by hand. */
const QUERY_CANCELED = '57014'

/** What is worth another try at once: a serialization failure, a deadlock. */
const COLLISIONS = new Set(['40001', '40P01'])

/** What a newer version of this store leaves to connections that prepared statements before it. */
const STALE_PLAN = /cached plan must not change result type/

const SYSTEM_ERRORS =
  /^(ECONNREFUSED|ECONNRESET|ECONNABORTED|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EPIPE|EHOSTUNREACH|ENETUNREACH|EHOSTDOWN|ENETDOWN)$/

/** What the driver says without a code. */
const LOST =
  /connection terminated|timeout expired|query read timeout|not queryable|connection error|socket|client was closed/i

/** What the driver says when all its connections are in use, or given up. */
const NO_CONNECTION_FREE = /timeout exceeded when trying to connect|after calling end on the pool/i

/** What an error says about the database. */
export type Trouble =
  /** Nothing: the statement itself is wrong. */
  | 'none'
  /** It was in the way of somebody else: try again. */
  | 'collision'
  /** What the connection had prepared no longer fits the tables: try again on another one. */
  | 'stale'
  /** It cannot do it now, and is there. */
  | 'busy'
  /** It cannot be reached. */
  | 'lost'

/** What an error says about the database. */
export function classifyError(error: unknown): Trouble {
  const code = readCode(error)
  if (COLLISIONS.has(code)) return 'collision'
  if (STALE_PLAN.test(errorMessage(error))) return 'stale'
  if (code === QUERY_CANCELED) return 'busy'
  if (/^[0-9A-Z]{5}$/.test(code) && !SYSTEM_ERRORS.test(code)) {
    const group = code.slice(0, 2)
    if (!PASSING_CLASSES.has(group)) return 'none'
    // Too many connections: nothing gets in.
    return SERVER_IS_THERE.has(group) && code !== '53300' ? 'busy' : 'lost'
  }
  const message = errorMessage(error)
  if (NO_CONNECTION_FREE.test(message)) return 'busy'
  return SYSTEM_ERRORS.test(code) || LOST.test(message) ? 'lost' : 'none'
}

/** An error that tells a caller to try again later; without the connection string. */
export function unavailable(error: unknown, connectionString: string): TuttiError {
  const { password } = new URL(connectionString)
  return new TuttiError(
    'STORE_UNAVAILABLE',
    `Cannot use the run store in Postgres at ${formatHost(connectionString)}: ` +
      redactPassword(describeReason(error), password),
    { retryable: true },
  )
}

/** Host, port and database of a connection string. */
export function formatHost(connectionString: string): string {
  const { hostname, port, pathname } = new URL(connectionString)
  return `${hostname}:${port === '' ? '5432' : port}${pathname}`
}

function describeReason(error: unknown): string {
  // Node tries all addresses of a host and tells of each.
  if (error instanceof AggregateError) return error.errors.map(errorMessage).join(', ')
  return errorMessage(error)
}

function redactPassword(text: string, password: string): string {
  if (password === '') return text
  const plain = URL.canParse(`x://${password}`) ? tryDecode(password) : password
  return text.replaceAll(password, '***').replaceAll(plain, '***')
}

function tryDecode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

function readCode(error: unknown): string {
  if (typeof error !== 'object' || error === null || !('code' in error)) return ''
  return typeof error.code === 'string' ? error.code : ''
}
