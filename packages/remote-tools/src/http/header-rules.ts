/** Which headers a tool may set. Pure. */

import { CONNECTION_HEADERS } from '@tutti/net'

/** A token. @see https://www.rfc-editor.org/rfc/rfc9110#section-5.6.2 */
const NAME = /^[!#$%&'*+.^_`|~\w-]+$/

/** What is wrong with headers; their values, which may be secret, are not quoted. */
export function headerProblems(headers: Readonly<Record<string, unknown>>): readonly string[] {
  return Object.entries(headers).flatMap(([name, value]) => {
    if (!NAME.test(name)) return [`${JSON.stringify(name)} is no name of a header`]
    if (CONNECTION_HEADERS.has(name.toLowerCase())) {
      return [`the header "${name}" follows from the URL and the body: it cannot be set`]
    }
    return isValue(value)
      ? []
      : [`the value of the header "${name}" must be text without line breaks or control characters`]
  })
}

/** Whether text can be sent as the value of a header: tabs and printable characters up to U+00FF. */
function isValue(value: unknown): boolean {
  return typeof value === 'string' && /^[\t\x20-\x7e\x80-\xff]*$/.test(value)
}
