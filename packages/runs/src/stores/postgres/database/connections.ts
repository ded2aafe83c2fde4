/** Opens and ends connections to Postgres. */
import { createHash } from 'node:crypto'

import { systemClock } from '@tutti/core'

import type { Client, PoolClient } from 'pg'

/** Maximum time to open a connection, in milliseconds. */
const CONNECT_LIMIT_MS = 5_000

/** Maximum time that ending a connection waits for the server, in milliseconds. */
const END_LIMIT_MS = 400

/** Returns the options of all connections. */
export function connectionOptions(connectionString: string) {
  return {
    connectionString,
    connectionTimeoutMillis: CONNECT_LIMIT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    application_name: 'tutti-runs',
  }
}

/** Ends a connection without waiting for the server. */
export function destroy(client: Client | PoolClient): void {
  // NOTE: the driver has no such method, and its types lack the connection that every client has.
  const { connection } = client as unknown as {
    readonly connection?: { readonly stream: { destroy(): void } }
  }
  connection?.stream.destroy()
}

/** Waits briefly for connections to end. */
export async function awaitClosing(ending: Promise<unknown>): Promise<void> {
  const { promise: late, resolve } = Promise.withResolvers<void>()
  const stop = systemClock.after(END_LIMIT_MS, resolve)
  await Promise.race([ending.catch(() => undefined), late])
  stop()
}

/** Quotes an SQL identifier. */
export function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

/** Returns the SHA-256 hash of a name. */
export function hashName(name: string): Buffer {
  return createHash('sha256').update(name).digest()
}
