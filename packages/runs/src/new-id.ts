/** Creates random ids. */

/** Number of random bytes of an id; enough to make collisions practically impossible. */
const ID_BYTES = 8

/** Returns a random id that starts with `prefix`. */
export function newId(prefix: 'run' | 'thread'): string {
  const bytes = crypto.getRandomValues(new Uint8Array(ID_BYTES))
  return `${prefix}-${Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')}`
}
