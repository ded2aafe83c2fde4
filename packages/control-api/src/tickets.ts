/**
 * Tickets take the place of a key where a browser cannot send one. They are not kept anywhere: each is
 * signed with what the server keeps of its key, so that every process with the same keys accepts it, and
 * none does any more when the key is gone.
 *
 *   base64url({"name","expiresAt","nonce"}) . base64url(HMAC-SHA256)
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'

import { TuttiError } from '@tutti/core'

import type { ApiKey } from './options.ts'

/** Longer than any ticket that was made here. */
const MAX_LENGTH = 2_048

/** Random bytes of a ticket: no two are the same. */
const NONCE_BYTES = 12

/** Sets the signatures of tickets apart from whatever else may be signed with the same secret. */
const PURPOSE = 'tutti ticket v1.'

interface TicketContent {
  /** Name of the key. */
  readonly name: string
  /** In milliseconds since 1970. */
  readonly expiresAt: number
}

/** Makes a ticket for the holder of `key`, good until `expiresAt`, in milliseconds since 1970. */
export function makeTicket(key: Pick<ApiKey, 'name' | 'sha256'>, expiresAt: number): string {
  const nonce = randomBytes(NONCE_BYTES).toString('base64url')
  const content = Buffer.from(JSON.stringify({ name: key.name, expiresAt, nonce }))
  const payload = content.toString('base64url')
  return `${payload}.${signatureOf(payload, key).toString('base64url')}`
}

/**
 * The key whose holder a ticket stands for, at `now`.
 *
 * @throws {TuttiError} UNAUTHORIZED for one that is forged, has expired, or is of no key any more.
 */
export function keyOfTicket(ticket: string, keys: readonly ApiKey[], now: number): ApiKey {
  const [payload = '', signature = ''] = ticket.length > MAX_LENGTH ? [] : ticket.split('.')
  const content = readContent(payload)
  const given = Buffer.from(signature, 'base64url')
  const found = keys.find(
    (key) => key.name === content?.name && isSame(given, signatureOf(payload, key)),
  )
  if (content === undefined || found === undefined) {
    throw new TuttiError('UNAUTHORIZED', 'This ticket is not one of this server')
  }
  if (now >= content.expiresAt) {
    throw new TuttiError('UNAUTHORIZED', 'This ticket has expired: get another one')
  }
  if (now >= (found.expiresAt ?? Infinity)) {
    throw new TuttiError('UNAUTHORIZED', `Key "${found.name}" of this ticket has expired`)
  }
  return found
}

function signatureOf(payload: string, { sha256 }: Pick<ApiKey, 'sha256'>): Buffer {
  return createHmac('sha256', Buffer.from(sha256, 'hex'))
    .update(PURPOSE + payload)
    .digest()
}

function isSame(a: Buffer, b: Buffer): boolean {
  return a.length === b.length && timingSafeEqual(a, b)
}

/** What a ticket says; undefined when it says nothing that is understood. */
function readContent(payload: string): TicketContent | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(payload, 'base64url').toString())
    if (typeof value !== 'object' || value === null) return undefined
    if (!('name' in value) || !('expiresAt' in value)) return undefined
    const { name, expiresAt } = value
    if (typeof name !== 'string' || typeof expiresAt !== 'number') return undefined
    return { name, expiresAt }
  } catch {
    return undefined
  }
}
