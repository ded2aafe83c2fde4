/** A call of the server as a line for a shell. */

export interface CurlCall {
  readonly method: string
  /** Path of the route, such as `/api/runs`. */
  readonly path: string
  readonly body: unknown
  /** Whether the server wants a key. The line has the name of a variable, and never the key. */
  readonly hasKey: boolean
  /** Address that the path is below. @default the one of the page */
  readonly base?: string
}

export function curlLine({
  method,
  path,
  body,
  hasKey,
  base = document.baseURI,
}: CurlCall): string {
  const url = new URL(`.${path}`, base).href
  const parts = [
    `curl -X ${method} ${quoted(url)}`,
    ...(hasKey ? ['-H "Authorization: Bearer $TUTTI_API_KEY"'] : []),
    `-H ${quoted('Content-Type: application/json')}`,
    `-d ${quoted(JSON.stringify(body))}`,
  ]
  return parts.join(' \\\n  ')
}

/** In single quotes a shell takes everything as it is, but the quote itself. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`
}
