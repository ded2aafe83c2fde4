/** What a submission asks for, as a text that is the same whenever the same is asked. */
import { createHash } from 'node:crypto'

import type { TagMap } from '@tutti/protocol'
import type { RequestedRun } from '../run-record.ts'

/** What tells one submission from another. */
export interface SubmissionContent {
  readonly ensemble: string
  readonly inputs: Readonly<Record<string, string>>
  readonly tags: Readonly<TagMap>
  readonly runId: string | undefined
  readonly request?: RequestedRun | undefined
  readonly webhooks?: readonly string[] | undefined
  readonly actor?: string | undefined
}

/** SHA-256 of the content, in hex; the order of keys does not matter. */
export function fingerprintOf(content: SubmissionContent): string {
  const { ensemble, inputs, tags, runId, request, webhooks, actor } = content
  const parts: unknown[] = [ensemble, inputs, tags, runId ?? null]
  // What a submission does not have leaves no trace, as in those that were kept before there was more.
  const more = { request, webhooks, actor }
  if (Object.values(more).some((part) => part !== undefined)) parts.push(more)
  return createHash('sha256')
    .update(JSON.stringify(canonical(parts)))
    .digest('hex')
}

/** The same value with the keys of every object in order; objects become lists of pairs. */
function canonical(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(canonical)
  if (typeof value !== 'object' || value === null) return value
  return Object.entries(value)
    .filter(([, part]) => part !== undefined)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, part]) => [key, canonical(part)])
}
