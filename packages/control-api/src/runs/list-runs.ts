/** Lists runs for queries and messages. */
import { eventSize } from '@tutti/runs/internal'

import { toRunSummary } from './to-wire.ts'

import type { ListRunsQuery, RunList, RunStatus } from '@tutti/protocol'
import type { RunStatusList } from '@tutti/protocol/internal'
import type { ResolvedControlApiOptions } from '../options.ts'

/** Default number of runs on a page. */
const DEFAULT_LIMIT = 100

/** Returns the page of runs that match a query, newest first, without secrets. */
export async function listRuns(
  { runs, redactor }: Pick<ResolvedControlApiOptions, 'runs' | 'redactor'>,
  { status, tag, ensemble, threadId, q, limit = DEFAULT_LIMIT, offset = 0, cursor }: ListRunsQuery,
): Promise<RunList> {
  // One more than the page holds shows whether there is another page.
  const found = await runs.list({
    limit: limit + 1,
    offset,
    ...(cursor === undefined ? {} : { before: Number(cursor) }),
    ...(status === undefined ? {} : { statuses: parseStatuses(status) }),
    ...(tag === undefined ? {} : { tag: parseTag(tag) }),
    ...(ensemble === undefined ? {} : { ensemble }),
    ...(threadId === undefined ? {} : { threadId }),
    ...(q === undefined ? {} : { text: q }),
  })
  // Secrets are removed before texts are cut, because a part of a secret would not be recognized.
  const summaries = found.runs.slice(0, limit).map((run) => toRunSummary(redactor.value(run)))
  const page = takeFitting(summaries)
  const last = found.runs[page.length - 1]
  return {
    runs: page,
    total: found.total,
    ...(found.isCapped ? { totalCapped: true } : {}),
    ...(last === undefined || page.length === found.runs.length
      ? {}
      : { nextCursor: String(last.place) }),
  }
}

/** Size after which a page ends, in bytes. The next page starts there. */
const MAX_PAGE_BYTES = 1_000_000

/** Returns the entries up to the one that reaches the size of a page. */
export function takeFitting<T>(entries: readonly T[]): T[] {
  let bytes = 0
  const end = entries.findIndex((entry) => (bytes += eventSize(entry)) > MAX_PAGE_BYTES)
  return entries.slice(0, end === -1 ? entries.length : end + 1)
}

function parseStatuses(list: RunStatusList): readonly RunStatus[] {
  // NOTE: the schema accepts only comma-separated statuses.
  return list.split(',') as RunStatus[]
}

/** Parses a tag of the form `key` or `key:value`. */
export function parseTag(text: string): { readonly key: string; readonly value?: string } {
  const colon = text.indexOf(':')
  if (colon === -1) return { key: text }
  return { key: text.slice(0, colon), value: text.slice(colon + 1) }
}
