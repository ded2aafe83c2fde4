/** Formats an API call as a curl command. */

export interface CurlCall {
  readonly method: string
  /** Path of the route, such as `/api/runs`. */
  readonly path: string
  readonly body: unknown
  /**
   * Whether the server requires a key. The command refers to an environment variable and never
   * contains the key.
   */
  readonly hasKey: boolean
  /** URL that the path is appended to. @default the base URL of the page */
  readonly base?: string
}

export function formatCurl({
  method,
  path,
  body,
  hasKey,
  base = document.baseURI,
}: CurlCall): string {
  const url = new URL(`.${path}`, base).href
  const parts = [
    `curl -X ${method} ${quoteForShell(url)}`,
    ...(hasKey ? ['-H "Authorization: Bearer $TUTTI_API_KEY"'] : []),
    `-H ${quoteForShell('Content-Type: application/json')}`,
    `-d ${quoteForShell(JSON.stringify(body))}`,
  ]
  return parts.join(' \\\n  ')
}

/** Quotes a text for a shell: single quotes protect everything except the single quote itself. */
function quoteForShell(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`
}
