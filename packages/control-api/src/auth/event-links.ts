/**
 * Links with which callers without a key send one external event. They are not stored. Each is signed for the key that created
 * it, or for the run that asked for it, with a secret that the processes of a server share.
 *
 *   base64url({"issuer","id","name","key","runId","expiresAt"}) . base64url(HMAC-SHA256)
 *
 * API-L1 A link sends one event: its name, key, run and id are signed, and an event counts once under its id.
 * API-L2 A link is valid until it expires, and while its key exists, is unchanged, has not expired and has `events:send`.
 * API-L3 A link reveals nothing: its answer has no id of a run, and an invalid one is not found.
 * API-L4 A link for one run is valid until that run ends, if it has no separate expiry. One that a run asked for needs no key.
 * API-L5 Tokens are redacted from events, answers and logs like secrets. Only the handler and the caller that ask for a link
 *    get it.
 * API-L6 The event of a link is in the audit trail once, with the name of the key that created the link.
 */
import { TuttiError } from '@tutti/core'
import { decode } from '@tutti/protocol'
import { EventLinkContent } from '@tutti/protocol/internal'
import { hasScope } from '@tutti/gateway/internal'

import { DEFAULT_SCOPES, type ApiKey } from './keys.ts'
import {
  createToken,
  decodePayload,
  isSameSignature,
  signPayload,
  splitToken,
} from './signatures.ts'

import type { Signer } from '@tutti/gateway/internal'

/** Maximum length of a token; longer than any that this server issues. */
const MAX_LENGTH = 4_096

/** Separates the signatures of links from other signatures with the same secret. */
const PURPOSE = 'tutti event link v1'

/** Separates the signatures of links that runs ask for from those of the links of callers. */
const CALLBACK_PURPOSE = 'tutti callback v1'

/** Returns the token of a link. @param key key of the caller; undefined on a server without keys */
export function createEventToken(
  content: EventLinkContent,
  key: ApiKey | undefined,
  signer: Signer,
): string {
  return createToken(content, signer.signingKey(PURPOSE, key))
}

/** Returns the token of a link that a run asks for. */
export function createCallbackToken(content: EventLinkContent, signer: Signer): string {
  return createToken(content, signer.signingKey(CALLBACK_PURPOSE, undefined))
}

/**
 * Verifies the token of a link and returns its event.
 *
 * @throws {TuttiError} NOT_FOUND for a token that is forged or has expired, or whose key can no longer send events.
 */
export function readEventToken(
  token: string,
  { keys, now }: { readonly keys: readonly ApiKey[]; readonly now: number },
  signer: Signer,
): EventLinkContent {
  const [payload, signature] = splitToken(token, MAX_LENGTH)
  const decoded = decode(EventLinkContent, decodePayload(payload))
  const given = Buffer.from(signature, 'base64url')
  const issuer = decoded.ok ? decoded.value.issuer : undefined
  const candidates = keys.length === 0 ? [undefined] : keys.filter(({ name }) => name === issuer)
  const isSignedWith = (signingKey: Buffer): boolean =>
    isSameSignature(given, signPayload(payload, signingKey))
  const isSigned =
    isSignedWith(signer.signingKey(CALLBACK_PURPOSE, undefined)) ||
    candidates.some(
      (key) =>
        isSignedWith(signer.signingKey(PURPOSE, key)) && (key === undefined || canSend(key, now)),
    )
  if (!decoded.ok || !isSigned) {
    throw new TuttiError('NOT_FOUND', 'This link was not created by this server, or was revoked')
  }
  const { expiresAt = Infinity } = decoded.value
  if (now >= expiresAt) throw new TuttiError('NOT_FOUND', 'This link has expired')
  return decoded.value
}

function canSend({ scopes = DEFAULT_SCOPES, expiresAt = Infinity }: ApiKey, now: number): boolean {
  return now < expiresAt && hasScope({ scopes: new Set(scopes) }, 'events:send')
}
