/** What a submission asks for, as a text that is the same whenever the same is asked. */
import { createHash } from 'node:crypto'

/** What tells one submission from another. */
export interface SubmissionContent {
  readonly ensemble: string
  readonly inputs: Readonly<Record<string, string>>
  readonly tags: Readonly<Record<string, string>>
  readonly runId: string | undefined
}

/** SHA-256 of the content, in hex; the order of keys does not matter. */
export function fingerprintOf({ ensemble, inputs, tags, runId }: SubmissionContent): string {
  const content = [ensemble, sorted(inputs), sorted(tags), runId ?? null]
  return createHash('sha256').update(JSON.stringify(content)).digest('hex')
}

function sorted(record: Readonly<Record<string, string>>): readonly (readonly [string, string])[] {
  return Object.entries(record).toSorted(([a], [b]) => (a < b ? -1 : 1))
}
