/**
 * Tickets replace a key where a browser cannot send one. They are not stored. Each is signed for one key with a
 * secret that the processes of a server share, and becomes invalid when its key is removed or replaced.
 *
 *   base64url({"name","expiresAt","nonce"}) . base64url(HMAC-SHA256)
 */
import { randomBytes } from 'node:crypto'

import { TuttiError } from '@tutti/core'

import {
  createToken,
  decodePayload,
  isSameSignature,
  signPayload,
  splitToken,
} from './signatures.ts'

import type { ApiKey } from './keys.ts'
import type { Signer } from '@tutti/gateway/internal'

/** Maximum length of a ticket; longer than any that this server issues. */
const MAX_LENGTH = 2_048

/** Number of random bytes that make each ticket unique. */
const NONCE_BYTES = 12

/** Separates the signatures of tickets from other signatures with the same secret. */
const PURPOSE = 'tutti ticket v2'

/** Maximum difference between the clocks of processes, in milliseconds. */
const CLOCK_SKEW_MS = 60_000

interface TicketContent {
  /** Name of the key. */
  readonly name: string
  /** Time of expiry in milliseconds since 1970. */
  readonly expiresAt: number
}

/** Contents of a ticket. */
export interface TicketParts {
  /** Key that the ticket replaces; undefined on a server without keys. */
  readonly key: Pick<ApiKey, 'name' | 'sha256'> | undefined
  /** Time of expiry in milliseconds since 1970. */
  readonly expiresAt: number
}

/** Keys and limits that a ticket is verified against. */
export interface TicketCheck {
  readonly keys: readonly ApiKey[]
  readonly now: number
  /** Maximum validity of a ticket, in milliseconds. */
  readonly ticketTtlMs: number
}

/** Returns a new ticket. */
export function makeTicket({ key, expiresAt }: TicketParts, signer: Signer): string {
  const nonce = randomBytes(NONCE_BYTES).toString('base64url')
  const name = key?.name ?? 'anonymous'
  return createToken({ name, expiresAt, nonce }, signer.signingKey(PURPOSE, key))
}

/**
 * Verifies a ticket and returns its key.
 *
 * @throws {TuttiError} UNAUTHORIZED when the ticket is forged, has expired or is valid for longer than this
 * server allows, and when its key was removed, replaced or has expired.
 */
export function verifyTicket(
  ticket: string,
  { keys, now, ticketTtlMs }: TicketCheck,
  signer: Signer,
): ApiKey {
  const [payload, signature] = splitToken(ticket, MAX_LENGTH)
  const content = readContent(payload)
  const given = Buffer.from(signature, 'base64url')
  const found = keys.find(
    (key) =>
      key.name === content?.name &&
      isSameSignature(given, signPayload(payload, signer.signingKey(PURPOSE, key))),
  )
  // No process issues a ticket that expires later.
  const latest = now + ticketTtlMs + CLOCK_SKEW_MS
  if (content === undefined || found === undefined || content.expiresAt > latest) {
    throw new TuttiError('UNAUTHORIZED', 'This ticket was not issued by this server')
  }
  if (now >= content.expiresAt) {
    throw new TuttiError('UNAUTHORIZED', 'This ticket has expired; create another one')
  }
  if (now >= (found.expiresAt ?? Infinity)) {
    throw new TuttiError('UNAUTHORIZED', `Key "${found.name}" of this ticket has expired`)
  }
  return found
}

/** Returns the content of a payload, or undefined when it is malformed. */
function readContent(payload: string): TicketContent | undefined {
  const value = decodePayload(payload)
  if (typeof value !== 'object' || value === null) return undefined
  if (!('name' in value) || !('expiresAt' in value)) return undefined
  const { name, expiresAt } = value
  if (typeof name !== 'string' || typeof expiresAt !== 'number') return undefined
  return { name, expiresAt }
}
