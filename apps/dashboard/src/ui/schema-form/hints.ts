/** Describes the constraints of a schema in a few words, shown under its field. Pure. */
import { asNumber, keywordText, type FormSchema } from './schema.ts'

/** Returns the hint; undefined when the schema has no constraints. */
export function describeConstraints(schema: FormSchema): string | undefined {
  const parts = [
    describeFormat(schema),
    describeRange(readBound(schema.minimum), readBound(schema.maximum)),
    describeLimit('more than', readBound(schema.exclusiveMinimum)),
    describeLimit('less than', readBound(schema.exclusiveMaximum)),
    describeLimit('a multiple of', schema.multipleOf),
    describeCount(schema.minLength, schema.maxLength, 'character'),
    describeCount(schema.minItems, schema.maxItems, 'item'),
    schema.uniqueItems === true ? 'no duplicates' : undefined,
    describePattern(keywordText(schema.pattern)),
    describeDefault(schema.default),
  ].filter((part) => part !== undefined)
  return parts.length === 0 ? undefined : parts.join(', ')
}

const FORMATS: Readonly<Record<string, string>> = {
  'date-time': 'date and time, stored in UTC',
  time: 'a time such as 10:30:00Z',
  email: 'an e-mail address',
  uri: 'a URL such as https://example.com',
  url: 'a URL such as https://example.com',
}

function describeFormat({ format, type }: FormSchema): string | undefined {
  if (type === 'integer') return 'a whole number'
  const text = keywordText(format)
  if (text === undefined || text === 'date') return undefined
  return FORMATS[text] ?? (['multiline', 'textarea', 'markdown'].includes(text) ? undefined : text)
}

/**
 * Returns a limit of a number. Schema libraries add the safe integers as limits of every integer;
 * these are omitted.
 */
function readBound(keyword: unknown): number | undefined {
  const number = asNumber(keyword)
  return number !== undefined && Math.abs(number) >= Number.MAX_SAFE_INTEGER ? undefined : number
}

function describeRange(
  minimum: number | undefined,
  maximum: number | undefined,
): string | undefined {
  if (minimum !== undefined && maximum !== undefined) return `${minimum} to ${maximum}`
  if (minimum !== undefined) return `at least ${minimum}`
  return maximum === undefined ? undefined : `at most ${maximum}`
}

function describeCount(minimum: unknown, maximum: unknown, unit: string): string | undefined {
  const range = describeRange(asNumber(minimum), asNumber(maximum))
  if (range === undefined) return undefined
  return `${range} ${range.endsWith(' 1') ? unit : `${unit}s`}`
}

function describeLimit(words: string, keyword: unknown): string | undefined {
  const number = asNumber(keyword)
  return number === undefined ? undefined : `${words} ${number}`
}

/** Omits the pattern for non-blank text. */
function describePattern(pattern: string | undefined): string | undefined {
  return pattern === undefined || pattern === '\\S' ? undefined : `matches ${pattern}`
}

function describeDefault(value: unknown): string | undefined {
  return value === undefined ? undefined : `default ${JSON.stringify(value)}`
}
