/** Reads query parameters. Numeric text is converted where the schema requires a number. */
import { Type, type Static, type TObject, type TSchema } from '@tutti/core'
import { decode } from '@tutti/protocol'
import { badRequest } from '@tutti/gateway'

const NUMBER = /^[+-]?\d{1,15}$/

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
    const problems = repeated.map((key) => ({ path: `/${key}`, message: 'must be given once' }))
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

function toNumber(schema: TSchema | undefined, text: string): string | number {
  const wanted = schema !== undefined && (Type.IsInteger(schema) || Type.IsNumber(schema))
  return wanted && NUMBER.test(text) ? Number(text) : text
}
