/** Reads search results from responses of services, and formats them for the model. Pure. */
import type { SearchResult } from './search-provider.ts'

/** Names of the fields in which a service returns its results. */
export interface ResultFields {
  readonly list: string
  readonly url: string
  readonly snippet: string
}

/**
 * Returns the results in the response of a service; those without a URL are omitted.
 *
 * @throws {Error} with the reason of the service when the response has no list of results.
 */
export function readSearchResults(
  response: unknown,
  fields: ResultFields,
): readonly SearchResult[] {
  const { [fields.list]: list, error } = toRecord(response)
  if (Array.isArray(list)) {
    return list
      .map(toRecord)
      .flatMap(({ title, [fields.url]: url, [fields.snippet]: snippet }) =>
        typeof url === 'string' ? [{ title: toText(title), url, snippet: toText(snippet) }] : [],
      )
  }
  // SerpAPI returns this error in place of an empty list.
  if (typeof error === 'string' && /hasn't returned any results/i.test(error)) return []
  throw new Error(typeof error === 'string' ? error : `the response has no "${fields.list}"`)
}

/** Formats results as a numbered list. */
export function formatResults(results: readonly SearchResult[]): string {
  return results
    .map(({ title, url, snippet }, index) =>
      [`${index + 1}. ${toLine(title) || url}`, `   URL: ${url}`, `   ${toLine(snippet)}`]
        .filter((part) => part.trim() !== '')
        .join('\n'),
    )
    .join('\n\n')
}

function toRecord(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}

function toText(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function toLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}
