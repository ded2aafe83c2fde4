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

/** Returns a token: the payload of a JSON value, a dot, and the signature of the payload. */
export function createToken(content: object, signingKey: Buffer): string {
  const payload = Buffer.from(JSON.stringify(content)).toString('base64url')
  return `${payload}.${signPayload(payload, signingKey).toString('base64url')}`
}

/** Returns the payload and the signature of a token; empty texts if it has another form or is longer than `maxLength`. */
export function splitToken(
  token: string,
  maxLength: number,
): readonly [payload: string, signature: string] {
  const [payload = '', signature = '', ...rest] = token.length > maxLength ? [] : token.split('.')
  return rest.length === 0 ? [payload, signature] : ['', '']
}
