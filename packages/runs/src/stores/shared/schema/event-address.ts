/** Addresses by which external events and waits find each other. No I/O. */
import { createHash } from 'node:crypto'

import type { AwaitedEvent } from '@tutti/protocol/internal'

/** Returns the address of a name and key: a digest, which every store can hold and index. */
export function toAddress({ name, key }: AwaitedEvent): string {
  return digestOf([name, key ?? null])
}

/** Returns the SHA-256 of a value's JSON, in hex. */
export function digestOf(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex')
}
