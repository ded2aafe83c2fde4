/** Reads all pages of the list of runs. */
import { ROUTES, routePath, type ListRunsQuery, type RunSummary } from '@tutti/protocol'

import { callRoute } from '../http/call-route.ts'

import type { CallOptions } from '../http/exchange.ts'
import type { ResolvedClientOptions } from '../options.ts'

/**
 * Returns every run that matches `query`, each once. New runs shift the others to later pages, so a page may repeat
 * runs of the previous one.
 */
export function listEveryRun(
  settings: ResolvedClientOptions,
  query: ListRunsQuery,
  options: CallOptions,
): AsyncIterable<RunSummary> {
  return { [Symbol.asyncIterator]: () => pages(settings, query, options) }
}

async function* pages(
  settings: ResolvedClientOptions,
  { offset: first = 0, ...query }: ListRunsQuery,
  options: CallOptions,
): AsyncGenerator<RunSummary, void> {
  const path = routePath('listRuns')
  const seen = new Set<string>()
  let offset = first
  for (;;) {
    const { runs, total } = await callRoute(settings, ROUTES.listRuns, {
      ...options,
      path,
      query: { ...query, offset },
    })
    for (const run of runs) {
      if (seen.has(run.runId)) continue
      seen.add(run.runId)
      yield run
    }
    offset += runs.length
    if (runs.length === 0 || offset >= total) return
  }
}
