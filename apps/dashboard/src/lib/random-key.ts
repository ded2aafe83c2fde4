/** Random keys for submissions. */

/** Creates a random key. Not with `randomUUID`, which does not exist in insecure contexts. */
export function createRandomKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}
