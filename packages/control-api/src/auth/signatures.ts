/** Signatures of texts that a server issues and later receives again. */
import { createHmac, timingSafeEqual } from 'node:crypto'

/** Returns the signature of a payload. */
export function signPayload(payload: string, signingKey: Buffer): Buffer {
  return createHmac('sha256', signingKey).update(payload).digest()
}

/** Compares signatures in constant time. */
export function isSameSignature(a: Buffer, b: Buffer): boolean {
  return a.length === b.length && timingSafeEqual(a, b)
}

/** Returns the JSON value that a payload encodes; undefined if it is malformed. */
export function decodePayload(payload: string): unknown {
  try {
    return JSON.parse(Buffer.from(payload, 'base64url').toString())
  } catch {
    return undefined
  }
}

/** Returns the payload of a JSON value. */
export function encodePayload(content: object): string {
  return Buffer.from(JSON.stringify(content)).toString('base64url')
}
