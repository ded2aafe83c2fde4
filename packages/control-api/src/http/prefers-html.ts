/** Pure: tells a browser from a program, by what each says that it accepts. */

import { parseAccept, type AcceptRange } from './accept.ts'

/**
 * Whether an `Accept` names HTML and wants it no less than plain text. Programs that take anything, such as
 * curl, name no HTML.
 *
 * @see https://www.rfc-editor.org/rfc/rfc9110#section-12.5.1
 */
export function prefersHtml(accept: string | null): boolean {
  const ranges = parseAccept(accept)
  const html = qualityOf('text/html', ranges)
  if (html === undefined || html === 0) return false
  const plain = ['text/plain', 'text/*', '*/*']
    .map((type) => qualityOf(type, ranges))
    .find((quality) => quality !== undefined)
  return html >= (plain ?? 0)
}

/** Quality of a type that is named; the highest one when it is named more than once. */
function qualityOf(type: string, ranges: readonly AcceptRange[]): number | undefined {
  const named = ranges.filter((range) => range.type === type)
  return named.length === 0 ? undefined : Math.max(...named.map(({ quality }) => quality))
}
