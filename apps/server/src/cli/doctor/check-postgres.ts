/** Checks the database: reachable, supported, and delivering notifications without a pooler in between. */
import { createRequire } from 'node:module'
import { setTimeout as wait } from 'node:timers/promises'

import { findingsFor, type Finding } from '../../checks/finding.ts'

import type { Environment } from '../../environment/env.ts'

const { ok, warning, problem } = findingsFor('database')

/** Oldest supported version of Postgres, as `server_version_num`. */
const OLDEST_VERSION = 150_000

/** Time limit of a connection attempt and of a query, in milliseconds. */
const CONNECT_LIMIT_MS = 5_000

/** Time limit of a notification, in milliseconds; usually it takes a few. */
const NOTIFICATION_LIMIT_MS = 2_000

/** Part of the driver's client that is used here. */
interface Client {
  connect(): Promise<void>
  query(sql: string, values?: readonly unknown[]): Promise<{ readonly rows: readonly Row[] }>
  once(event: 'notification', listener: () => void): void
  on(event: 'error', listener: () => void): void
  end(): Promise<void>
}

type Row = Readonly<Record<string, unknown>>

type Urls = Pick<Environment, 'databaseListenUrl' | 'databaseReadUrl'> & {
  readonly databaseUrl: string
}

/** Checks the database without writing to it. */
export async function checkPostgres({
  databaseUrl,
  databaseListenUrl = databaseUrl,
  databaseReadUrl,
}: Urls): Promise<readonly Finding[]> {
  const opened = await openClient(databaseUrl, 'DATABASE_URL')
  if ('level' in opened) return [opened]
  try {
    const server = await checkServer(opened, databaseUrl)
    if (server.some(({ level }) => level === 'problem')) return server
    return [
      ...server,
      await checkNotifications(opened, databaseListenUrl),
      ...(databaseReadUrl === undefined ? [] : [await checkReads(databaseReadUrl)]),
    ]
  } finally {
    await opened.end()
  }
}

async function openClient(url: string, variable: string): Promise<Client | Finding> {
  // NOTE: the driver has no types; the part in use is declared above.
  const driver = createRequire(import.meta.url)('pg') as {
    readonly Client: new (options: object) => Client
  }
  const client = new driver.Client({
    connectionString: url,
    connectionTimeoutMillis: CONNECT_LIMIT_MS,
    query_timeout: CONNECT_LIMIT_MS,
    application_name: 'tutti-doctor',
  })
  client.on('error', () => undefined)
  try {
    await client.connect()
    return client
  } catch (error) {
    return problem(
      `Cannot reach ${formatDatabase(url)} of ${variable}: ${formatConnectError(error)}`,
      'Start the database, or correct its address, user and password',
    )
  }
}

/** Returns host, port and database of a URL, without user and password. */
function formatDatabase(url: string): string {
  const { host, pathname } = new URL(url)
  return `${host}${pathname}`
}

/** Formats an error. A name with several addresses fails with an AggregateError, whose own message is empty. */
function formatConnectError(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(formatConnectError).join('; ')
  return error instanceof Error ? error.message : String(error)
}

async function checkServer(client: Client, url: string): Promise<readonly Finding[]> {
  const { rows } = await client.query(
    `SELECT current_setting('server_version_num')::int AS version,
       current_setting('server_version') AS name, current_setting('server_encoding') AS encoding,
       pg_is_in_recovery() AS "isReplica", extract(epoch FROM clock_timestamp()) * 1000 AS now`,
  )
  const [server = {}] = rows
  const { name, encoding } = server
  if (Number(server['version']) < OLDEST_VERSION) {
    return [
      problem(`Postgres ${String(name)} is too old, expected 15 or later`, 'Upgrade the database'),
    ]
  }
  if (encoding !== 'UTF8') {
    const advice = "Create another database: CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0"
    return [problem(`The encoding of the database is ${String(encoding)}, expected UTF8`, advice)]
  }
  if (server['isReplica'] === true) {
    return [problem('The database is a read-only replica', 'Use the address of the primary')]
  }
  const off = Math.abs(Date.now() - Number(server['now']))
  const found = ok(`Postgres ${String(name)} at ${formatDatabase(url)}`)
  return off < CLOCK_LIMIT_MS ? [found] : [found, clockWarning(off)]
}

/** Clock difference above which timestamps are hard to compare, in milliseconds. */
const CLOCK_LIMIT_MS = 5_000

function clockWarning(off: number): Finding {
  const seconds = Math.round(off / 1_000)
  return warning(
    `The clock of the database differs from the local clock by ${seconds} s`,
    'Synchronize both with NTP',
  )
}

async function checkReads(url: string): Promise<Finding> {
  const opened = await openClient(url, 'DATABASE_READ_URL')
  if ('level' in opened) return opened
  try {
    const { rows } = await opened.query('SELECT pg_is_in_recovery() AS is_replica')
    const kind = rows[0]?.['is_replica'] === true ? 'a replica' : 'not a replica'
    return ok(`Lists are read from ${formatDatabase(url)}, which is ${kind}`)
  } finally {
    await opened.end()
  }
}

/** Sends a notification on one connection and awaits it on another, as processes that share the database do. */
async function checkNotifications(sender: Client, url: string): Promise<Finding> {
  const opened = await openClient(url, 'DATABASE_LISTEN_URL')
  if ('level' in opened) return opened
  const channel = `tutti_doctor_${process.pid}`
  try {
    const received = new Promise<boolean>((resolve) => {
      opened.once('notification', () => resolve(true))
    })
    await opened.query(`LISTEN ${channel}`)
    await sender.query('SELECT pg_notify($1, $2)', [channel, ''])
    const late = wait(NOTIFICATION_LIMIT_MS, false, { ref: false })
    if (await Promise.race([received, late]))
      return ok(`Notifications arrive from ${formatDatabase(url)}`)
    return problem(
      `Notifications do not arrive from ${formatDatabase(url)}: it is behind a pooler, or is another database`,
      'Set DATABASE_LISTEN_URL to the address of the same database without the pooler',
    )
  } finally {
    await opened.end()
  }
}
