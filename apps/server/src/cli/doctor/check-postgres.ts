/** Whether the database can be used: reached, new enough, and listened to without a pooler in between. */
import { createRequire } from 'node:module'
import { setTimeout as wait } from 'node:timers/promises'

import { findingsOf, type Finding } from './finding.ts'

import type { Environment } from '../../environment/env.ts'

const { ok, warning, problem } = findingsOf('database')

/** The oldest version of Postgres that the store works with, as the server tells it. */
const OLDEST_VERSION = 150_000

/** How long a connection may take, in milliseconds. */
const CONNECT_LIMIT_MS = 5_000

/** How long a notice may take, in milliseconds; it takes a few. */
const NOTICE_LIMIT_MS = 2_000

/** The parts of the driver's client that are used here. */
interface Client {
  connect(): Promise<void>
  query(sql: string, values?: readonly unknown[]): Promise<{ readonly rows: readonly Row[] }>
  once(event: 'notification', listener: () => void): void
  on(event: 'error', listener: () => void): void
  end(): Promise<void>
}

type Row = Readonly<Record<string, unknown>>

type Urls = Pick<Environment, 'databaseListenUrl'> & { readonly databaseUrl: string }

/** Checks the database; it writes nothing there. */
export async function checkPostgres({
  databaseUrl,
  databaseListenUrl = databaseUrl,
}: Urls): Promise<readonly Finding[]> {
  const opened = await openClient(databaseUrl, 'DATABASE_URL')
  if ('level' in opened) return [opened]
  try {
    const server = await checkServer(opened, databaseUrl)
    if (server.some(({ level }) => level === 'problem')) return server
    return [...server, await checkNotices(opened, databaseListenUrl)]
  } finally {
    await opened.end()
  }
}

async function openClient(url: string, variable: string): Promise<Client | Finding> {
  // NOTE: the driver brings no types; what is used of it is written out above.
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
      `${placeOf(url)} of ${variable} cannot be reached: ${reasonOf(error)}`,
      'Start the database, or correct its address, user and password',
    )
  }
}

/** Host and port alone: an address has a password. */
function placeOf(url: string): string {
  const { host, pathname } = new URL(url)
  return `${host}${pathname}`
}

/** Several addresses of one name fail with an error of errors, which says nothing itself. */
function reasonOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(reasonOf).join('; ')
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
      problem(`Postgres ${String(name)} is too old, wanted 15 or later`, 'Upgrade the database'),
    ]
  }
  if (encoding !== 'UTF8') {
    const advice = "Make another database: CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0"
    return [problem(`The encoding of the database is ${String(encoding)}, wanted UTF8`, advice)]
  }
  if (server['isReplica'] === true) {
    return [
      problem(
        'The database is a replica, which takes no writes',
        'Give the address of the primary',
      ),
    ]
  }
  const off = Math.abs(Date.now() - Number(server['now']))
  const found = ok(`Postgres ${String(name)} at ${placeOf(url)}`)
  return off < CLOCK_LIMIT_MS ? [found] : [found, clockWarning(off)]
}

/** Clocks that are further apart than this make times hard to compare; in milliseconds. */
const CLOCK_LIMIT_MS = 5_000

function clockWarning(off: number): Finding {
  const seconds = Math.round(off / 1_000)
  return warning(
    `The clock of the database is ${seconds} s off from this one`,
    'Set the clocks by NTP',
  )
}

/** Has a notice sent on one connection and awaits it on the other, as processes do that share the database. */
async function checkNotices(sender: Client, url: string): Promise<Finding> {
  const opened = await openClient(url, 'DATABASE_LISTEN_URL')
  if ('level' in opened) return opened
  const channel = `tutti_doctor_${process.pid}`
  try {
    const heard = new Promise<boolean>((resolve) => {
      opened.once('notification', () => resolve(true))
    })
    await opened.query(`LISTEN ${channel}`)
    await sender.query('SELECT pg_notify($1, $2)', [channel, ''])
    const late = wait(NOTICE_LIMIT_MS, false, { ref: false })
    if (await Promise.race([heard, late])) return ok(`Notices arrive from ${placeOf(url)}`)
    return problem(
      `Notices do not arrive from ${placeOf(url)}: a pooler is in between, or it is another database`,
      'Set DATABASE_LISTEN_URL to the address of the same database without the pooler',
    )
  } finally {
    await opened.end()
  }
}
