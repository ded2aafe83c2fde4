import { sortedJson } from './sorted-json.ts'

/** SHA-256 of {@link sortedJson}, in hex. */
export async function inputHash(value: unknown): Promise<string> {
  const bytes = new TextEncoder().encode(sortedJson(value))
  const digest = await crypto.subtle.digest('SHA-256', bytes)
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('')
}
