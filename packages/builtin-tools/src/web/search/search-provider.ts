/** The port to web search. */

/** One result of a search. */
export interface SearchResult {
  title: string
  url: string
  /** An excerpt or a summary of the page; may be empty. */
  snippet: string
}

/** A search that a provider is asked for. */
export interface SearchRequest {
  /** Aborts when the call is cancelled or has timed out. */
  readonly signal: AbortSignal
  /** Maximum number of results that are used. */
  readonly maxResults: number
}

/** Searches the web; rejects with an error whose message is the reason. */
export type SearchProvider = (
  query: string,
  request: SearchRequest,
) => Promise<readonly SearchResult[]>
