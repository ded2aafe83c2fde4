/** What a schema asks of a value, in a few words under its field. Pure. */
import { numberOf, keywordText, type FormSchema } from './schema.ts'

/** The hint; undefined when there is nothing to say. */
export function hintOf(schema: FormSchema): string | undefined {
  const parts = [
    formatHint(schema),
    rangeHint(bound(schema.minimum), bound(schema.maximum)),
    above('more than', bound(schema.exclusiveMinimum)),
    above('less than', bound(schema.exclusiveMaximum)),
    above('a multiple of', schema.multipleOf),
    countHint(schema.minLength, schema.maxLength, 'character'),
    countHint(schema.minItems, schema.maxItems, 'item'),
    schema.uniqueItems === true ? 'each once' : undefined,
    patternHint(keywordText(schema.pattern)),
    defaultHint(schema.default),
  ].filter((part) => part !== undefined)
  return parts.length === 0 ? undefined : parts.join(', ')
}

const FORMATS: Readonly<Record<string, string>> = {
  'date-time': 'date and time, kept in UTC',
  time: 'a time such as 10:30:00Z',
  email: 'an e-mail address',
  uri: 'an address such as https://example.com',
  url: 'an address such as https://example.com',
}

function formatHint({ format, type }: FormSchema): string | undefined {
  if (type === 'integer') return 'a whole number'
  const text = keywordText(format)
  if (text === undefined || text === 'date') return undefined
  return FORMATS[text] ?? (['multiline', 'textarea', 'markdown'].includes(text) ? undefined : text)
}

/** A limit of a number. Schema libraries add the safe integers as limits of every integer; these are left out. */
function bound(keyword: unknown): number | undefined {
  const number = numberOf(keyword)
  return number !== undefined && Math.abs(number) >= Number.MAX_SAFE_INTEGER ? undefined : number
}

function rangeHint(minimum: number | undefined, maximum: number | undefined): string | undefined {
  if (minimum !== undefined && maximum !== undefined) return `${minimum} to ${maximum}`
  if (minimum !== undefined) return `at least ${minimum}`
  return maximum === undefined ? undefined : `at most ${maximum}`
}

function countHint(minimum: unknown, maximum: unknown, unit: string): string | undefined {
  const range = rangeHint(numberOf(minimum), numberOf(maximum))
  if (range === undefined) return undefined
  return `${range} ${range.endsWith(' 1') ? unit : `${unit}s`}`
}

function above(words: string, keyword: unknown): string | undefined {
  const number = numberOf(keyword)
  return number === undefined ? undefined : `${words} ${number}`
}

/** That a text must not be blank goes without saying. */
function patternHint(pattern: string | undefined): string | undefined {
  return pattern === undefined || pattern === '\\S' ? undefined : `matches ${pattern}`
}

function defaultHint(value: unknown): string | undefined {
  return value === undefined ? undefined : `${JSON.stringify(value)} when left out`
}
