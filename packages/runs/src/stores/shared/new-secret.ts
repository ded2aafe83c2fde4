import { randomBytes } from 'node:crypto'

/** The size of a SHA-256 hash. */
const SECRET_BYTES = 32

/** Returns 32 random bytes in base64url. */
export function newSecret(): string {
  return randomBytes(SECRET_BYTES).toString('base64url')
}
