/** Hashes submissions, to recognize repeated ones. */
import { createHash } from 'node:crypto'

import type { RunPriority, TagMap } from '@tutti/protocol/internal'
import type { RequestedRun } from '../domain/run-record.ts'

/** The content that distinguishes submissions: all of its fields are hashed. */
export interface SubmissionContent {
  readonly ensemble: string
  readonly inputs: Readonly<Record<string, string>>
  readonly tags: Readonly<TagMap>
  readonly runId: string | undefined
  readonly request?: RequestedRun | undefined
  readonly webhooks?: readonly string[] | undefined
  readonly actor?: string | undefined
  readonly threadId?: string | undefined
  readonly fork?: unknown
  readonly build?: string | undefined
  readonly startAt?: string | undefined
  readonly startAfterMs?: number | undefined
  readonly maxQueueMs?: number | undefined
  readonly priority?: RunPriority | undefined
  readonly fairnessKey?: string | undefined
}

/**
 * Returns the SHA-256 hash of the content in hex. The order of keys does not matter. Absent fields do not change the hash,
 * so fields can be added without changing those in a store.
 */
export function hashSubmission(content: SubmissionContent): string {
  return createHash('sha256')
    .update(JSON.stringify(toCanonical(content)))
    .digest('hex')
}

/** Replaces each object by a list of its pairs, sorted by key. */
function toCanonical(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toCanonical)
  if (typeof value !== 'object' || value === null) return value
  return Object.entries(value)
    .filter(([, part]) => part !== undefined)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, part]) => [key, toCanonical(part)])
}
