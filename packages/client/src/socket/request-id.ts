/** Ids of requests over a socket. */

/**
 * A new id: 128 random bits in hex. Not `randomUUID`, which pages that were not served over a safe connection
 * do not have.
 *
 * @see https://w3c.github.io/webcrypto/#Crypto-method-randomUUID
 */
export function newRequestId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
