/** Reads the header under which a submission that is sent again is recognised. */
import { badRequest } from './api-error.ts'

/** 1 to 255 visible ASCII characters: what fits into a header as it is. */
const KEY = /^[\x21-\x7e]{1,255}$/

/**
 * The key, or undefined when there is none.
 *
 * @throws {TuttiError} BAD_REQUEST when it is no key.
 * @see https://datatracker.ietf.org/doc/draft-ietf-httpapi-idempotency-key-header/
 */
export function idempotencyKey(headers: Headers): string | undefined {
  const key = headers.get('idempotency-key')
  if (key === null) return undefined
  if (KEY.test(key)) return key
  const message = `must be 1 to 255 visible ASCII characters, got ${JSON.stringify(key)}`
  throw badRequest('Header Idempotency-Key', [{ path: '', message }])
}
