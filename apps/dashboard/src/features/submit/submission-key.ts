/** The key under which a submission is one run, however often it is sent. */
import type { Submission } from './kept-submission.ts'

/** The key of the last try when this is the same body, else a new one. */
export function submissionKey(sent: Submission['sent'], body: string): string {
  return sent?.body === body ? sent.key : newKey()
}

/** Not `randomUUID`, which pages that were not served over a safe connection do not have. */
function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}
