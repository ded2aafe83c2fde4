/** Pure: tells a browser from a program, by what each says that it accepts. */

/** A media type that is accepted, and how gladly. */
interface Range {
  readonly type: string
  /** From 0, not at all, to 1. */
  readonly quality: number
}

/**
 * Whether an `Accept` names HTML and wants it no less than plain text. Programs that take anything, such as
 * curl, name no HTML.
 *
 * @see https://www.rfc-editor.org/rfc/rfc9110#section-12.5.1
 */
export function prefersHtml(accept: string | null): boolean {
  const ranges = (accept ?? '').split(',').flatMap(rangeOf)
  const html = qualityOf('text/html', ranges)
  if (html === undefined || html === 0) return false
  const plain = ['text/plain', 'text/*', '*/*']
    .map((type) => qualityOf(type, ranges))
    .find((quality) => quality !== undefined)
  return html >= (plain ?? 0)
}

/** A part of an `Accept`; nothing when its quality is no number. */
function rangeOf(part: string): readonly Range[] {
  const [type = '', ...parameters] = part.split(';').map((text) => text.trim().toLowerCase())
  const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2) ?? '1'
  return /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/.test(weight)
    ? [{ type, quality: Number(weight) }]
    : []
}

/** How gladly a type is taken that is named; the best one counts when it is named more than once. */
function qualityOf(type: string, ranges: readonly Range[]): number | undefined {
  const named = ranges.filter((range) => range.type === type)
  return named.length === 0 ? undefined : Math.max(...named.map(({ quality }) => quality))
}
