/** Reads query parameters. Numeric text is converted where the schema requires a number. */
import { Type, type Static, type TSchema } from '@tutti/core'
import type { TObject } from '@tutti/core/internal'
import { decode } from '@tutti/protocol'
import { badRequest } from '@tutti/gateway/internal'

const NUMBER = /^[+-]?\d+$/

/**
 * Returns the validated query of a URL. Repeated parameters are refused.
 *
 * @throws {TuttiError} BAD_REQUEST with every problem.
 */
export function readQuery<Schema extends TObject>(url: string, schema: Schema): Static<Schema> {
  const [target = ''] = url.split('#', 1)
  const start = target.indexOf('?')
  const parameters = new URLSearchParams(start === -1 ? '' : target.slice(start))
  const repeated = [...new Set(parameters.keys())].filter(
    (key) => parameters.getAll(key).length > 1,
  )
  if (repeated.length > 0) {
    const problems = repeated.map((key) => ({ path: `/${key}`, message: 'must be specified once' }))
    throw badRequest('query', problems)
  }
  const properties: Readonly<Record<string, TSchema>> = schema.properties
  const value = Object.fromEntries(
    [...parameters].map(([key, text]) => [key, toNumber(properties[key], text)]),
  )
  const decoded = decode(schema, value)
  if (decoded.ok) return decoded.value
  throw badRequest('query', decoded.problems)
}

/**
 * Returns the number in a text where the schema requires one. A number without an exact form is only converted where it
 * exceeds a limit of the schema, so that the problem names the limit.
 */
function toNumber(schema: TSchema | undefined, text: string): string | number {
  const wanted = schema !== undefined && (Type.IsInteger(schema) || Type.IsNumber(schema))
  if (!wanted || !NUMBER.test(text)) return text
  const number = Math.min(Math.max(Number(text), -Number.MAX_VALUE), Number.MAX_VALUE)
  const { minimum = -Infinity, maximum = Infinity } = readLimits(schema)
  const isExact = Number.isSafeInteger(number)
  return isExact || number > maximum || number < minimum ? number : text
}

function readLimits(schema: object): { readonly minimum?: number; readonly maximum?: number } {
  return schema
}
