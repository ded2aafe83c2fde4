/** The port to whoever searches the web. */

/** One thing that was found. */
export interface SearchResult {
  title: string
  url: string
  /** A part of the page, or what it is about; may be empty. */
  snippet: string
}

/** What a search is made with. */
export interface SearchRequest {
  /** Aborts when the call is cancelled or has timed out. */
  readonly signal: AbortSignal
  /** More results than that are not looked at. */
  readonly maxResults: number
}

/** Searches the web; rejects with an error whose message says why it cannot. */
export type SearchProvider = (
  query: string,
  request: SearchRequest,
) => Promise<readonly SearchResult[]>
