/** Fingerprints of what agents are asked. */

/** The compact JSON of a value with the keys of its objects in order: equal values have equal texts. */
export function sortedJson(value: unknown): string {
  // A value without JSON, such as undefined, is nothing.
  const text: string | undefined = JSON.stringify(value, (_key, member: unknown) => {
    if (typeof member !== 'object' || member === null || Array.isArray(member)) return member
    return Object.fromEntries(Object.entries(member).toSorted(([a], [b]) => (a < b ? -1 : 1)))
  })
  return text ?? 'null'
}

/** SHA-256 of {@link sortedJson}, in hex. */
export async function inputHash(value: unknown): Promise<string> {
  const bytes = new TextEncoder().encode(sortedJson(value))
  const digest = await crypto.subtle.digest('SHA-256', bytes)
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('')
}
