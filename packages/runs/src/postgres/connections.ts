/** How connections to Postgres are made and ended. */
import { createHash } from 'node:crypto'

import { systemClock } from '@tutti/core'

import type { Client, PoolClient } from 'pg'

/** How long a connection may take to be made, in milliseconds. */
const CONNECT_LIMIT_MS = 5_000

/** How long ending waits for the server, in milliseconds. */
const END_LIMIT_MS = 400

/** How every connection is made. */
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
  // NOTE: the driver has no such method; its connection is a part of every client, typed or not.
  const { connection } = client as unknown as {
    readonly connection?: { readonly stream: { destroy(): void } }
  }
  connection?.stream.destroy()
}

/** Waits for connections to end by themselves, but not for long. */
export async function waitForEnd(ending: Promise<unknown>): Promise<void> {
  const { promise: late, resolve } = Promise.withResolvers<void>()
  const stop = systemClock.after(END_LIMIT_MS, resolve)
  await Promise.race([ending.catch(() => undefined), late])
  stop()
}

/** A name as SQL has it. */
export function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

/** A hash of a name, for what must be short. */
export function hashName(name: string): Buffer {
  return createHash('sha256').update(name).digest()
}
