/** Pure: classifies errors of the database and reports them without secrets. */
import { TuttiError } from '@tutti/core'
import { errorMessage } from '@tutti/core/internal'

/**
 * Classes of SQLSTATE that do not depend on the statement: connection, transaction state, sign-in, rollback, resources,
 * object state (locks), operator intervention, system, no such database.
 *
 * @see https://www.postgresql.org/docs/current/errcodes-appendix.html
 */
const PASSING_CLASSES = new Set(['08', '25', '28', '40', '53', '55', '57', '58', '3D'])

/** Those of them that occur while the server can be reached. */
const REACHABLE_CLASSES = new Set(['25', '40', '53', '55', '58'])

/** A statement that was cancelled, by a time limit or by an operator. */
const QUERY_CANCELED = '57014'

/** A lock that was not free within `lock_timeout`. */
const LOCK_NOT_AVAILABLE = '55P03'

/** Errors that can be retried at once: a serialization failure, a deadlock. */
const COLLISIONS = new Set(['40001', '40P01'])

/** Errors of a database that lacks a schema, table, column or function. */
const MISSING_PARTS = new Set(['3F000', '42P01', '42703', '42883'])

/** Error of a statement that was prepared before a newer release changed the tables. */
const STALE_PLAN = /cached plan must not change result type/

const SYSTEM_ERRORS =
  /^(ECONNREFUSED|ECONNRESET|ECONNABORTED|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EPIPE|EHOSTUNREACH|ENETUNREACH|EHOSTDOWN|ENETDOWN)$/

/** Messages of the driver without a code. */
const LOST =
  /connection terminated|timeout expired|query read timeout|not queryable|connection error|socket|client was closed/i

/** Messages of the driver when all connections are in use, or the pool is closed. */
const NO_CONNECTION_FREE = /timeout exceeded when trying to connect|after calling end on the pool/i

/** The meaning of an error for the connection. */
export type Trouble =
  /** None: the statement itself failed. */
  | 'none'
  /** The transaction collided with another one; retry. */
  | 'collision'
  /** A prepared statement no longer fits the tables; retry on another connection. */
  | 'stale'
  /** The server can be reached, but cannot run the statement now. */
  | 'busy'
  /** The database cannot be reached. */
  | 'lost'

/** Classifies an error of the driver or the server. */
export function classifyError(error: unknown): Trouble {
  const code = readCode(error)
  if (COLLISIONS.has(code)) return 'collision'
  if (STALE_PLAN.test(errorMessage(error))) return 'stale'
  if (code === QUERY_CANCELED) return 'busy'
  if (/^[0-9A-Z]{5}$/.test(code) && !SYSTEM_ERRORS.test(code)) {
    const group = code.slice(0, 2)
    if (!PASSING_CLASSES.has(group)) return 'none'
    // 53300: too many connections, so the server accepts no new one.
    return REACHABLE_CLASSES.has(group) && code !== '53300' ? 'busy' : 'lost'
  }
  const message = errorMessage(error)
  if (NO_CONNECTION_FREE.test(message)) return 'busy'
  return SYSTEM_ERRORS.test(code) || LOST.test(message) ? 'lost' : 'none'
}

/** Whether a statement waited too long for a lock. */
export function isLockTimeout(error: unknown): boolean {
  return readCode(error) === LOCK_NOT_AVAILABLE
}

/** Whether the database lacks a part of the schema, as a replica does that has not applied a migration yet. */
export function lacksSchemaPart(error: unknown): boolean {
  return MISSING_PARTS.has(readCode(error))
}

/** Whether a read took too long on the server, or waited too long for a connection. */
export function isTooSlow(error: unknown): boolean {
  return readCode(error) === QUERY_CANCELED || NO_CONNECTION_FREE.test(errorMessage(error))
}

/** Returns the error of a read that was ended after `limitMs` milliseconds. */
export function queryTooSlow(limitMs: number): TuttiError {
  return new TuttiError(
    'QUERY_TOO_SLOW',
    `Reading the run store took longer than ${limitMs} ms. Narrow the filter, or repeat the request when fewer are running`,
    { retryable: true },
  )
}

/** Returns a retryable error that does not contain the connection string. */
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
  // Node tries all addresses of a host and reports an error for each.
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
