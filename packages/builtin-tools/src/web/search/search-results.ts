/** Search results: out of the answer of a service, and as text for the model. Pure. */
import type { SearchResult } from './search-provider.ts'

/** Names of the fields in which a service has its results. */
export interface ResultFields {
  readonly list: string
  readonly url: string
  readonly snippet: string
}

/**
 * The results in the answer of a service; those without a URL are left out.
 *
 * @throws {Error} with the reason of the service when it has no list of results.
 */
export function searchResults(answer: unknown, fields: ResultFields): readonly SearchResult[] {
  const { [fields.list]: list, error } = recordOf(answer)
  if (Array.isArray(list)) {
    return list
      .map(recordOf)
      .flatMap(({ title, [fields.url]: url, [fields.snippet]: snippet }) =>
        typeof url === 'string' ? [{ title: text(title), url, snippet: text(snippet) }] : [],
      )
  }
  // SerpAPI says so where the list would be.
  if (typeof error === 'string' && /hasn't returned any results/i.test(error)) return []
  throw new Error(typeof error === 'string' ? error : `the answer has no "${fields.list}"`)
}

/** The results as a numbered list, as AgentEnsemble writes them. */
export function resultsText(results: readonly SearchResult[]): string {
  return results
    .map(({ title, url, snippet }, index) =>
      [`${index + 1}. ${line(title) || url}`, `   URL: ${url}`, `   ${line(snippet)}`]
        .filter((part) => part.trim() !== '')
        .join('\n'),
    )
    .join('\n\n')
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function line(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}
