import { randomBytes } from 'node:crypto'

/** As many as the output of SHA-256 has. */
const SECRET_BYTES = 32

/** Returns 32 random bytes in base64url. */
export function newSecret(): string {
  return randomBytes(SECRET_BYTES).toString('base64url')
}
