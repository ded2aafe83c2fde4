/** Reads all pages of the list of runs. */
import {
  ROUTES,
  routePath,
  type ListRunsQuery,
  type RunList,
  type RunSummary,
} from '@tutti/protocol'

import { callRoute } from '../http/call-route.ts'

import type { CallOptions } from '../http/exchange.ts'
import type { ResolvedClientOptions } from '../options.ts'

/** Returns every run that matches `query`, each once, newest first. */
export function listEveryRun(
  settings: ResolvedClientOptions,
  query: ListRunsQuery,
  options: CallOptions,
): AsyncIterable<RunSummary> {
  return { [Symbol.asyncIterator]: () => pages(settings, query, options) }
}

async function* pages(
  settings: ResolvedClientOptions,
  first: ListRunsQuery,
  options: CallOptions,
): AsyncGenerator<RunSummary, void> {
  const path = routePath('listRuns')
  const { offset: _, ...later } = first
  for (let query: ListRunsQuery | undefined = first; query !== undefined;) {
    const { runs, nextCursor }: RunList = await callRoute(settings, ROUTES.listRuns, {
      ...options,
      path,
      query,
    })
    yield* runs
    query = nextCursor === undefined ? undefined : { ...later, cursor: nextCursor }
  }
}
