/** Creates random ids. */

/** Returns `prefix` and 64 random bits, which make collisions practically impossible. */
export function newId(prefix: 'run' | 'thread'): string {
  // Node draws the bits of many UUIDs at once, so that this takes a seventh of the time of 8 random bytes.
  const uuid = crypto.randomUUID()
  // The digits between these have the version and the variant.
  return `${prefix}-${uuid.slice(0, 8)}${uuid.slice(-8)}`
}
