/**
 * Checks values against the schemas of a document: that they are valid, and that they have only documented fields.
 * Response schemas are open, so clients must ignore further fields, but this server must not send any.
 */
import { isJsonObject } from '@tutti/protocol/internal'
import { Ajv, type Options, type ValidateFunction } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'

type JsonSchema = Readonly<Record<string, unknown>>

/** Returns the problems of a value, one per line; empty when it is valid. */
export type SchemaCheck = (schema: JsonSchema, value: unknown) => readonly string[]

/** Schema dialects of the documents. */
const DIALECTS = { openapi: Ajv2020, asyncapi: Ajv } as const

const OPTIONS: Options = { strict: false, allErrors: true }

/** Creates the check of a document, which resolves its `$ref`s. */
export function schemaCheck(dialect: keyof typeof DIALECTS, document: object): SchemaCheck {
  const ajv = new DIALECTS[dialect](OPTIONS)
  addFormats.default(ajv)
  const root = `${dialect}.json`
  ajv.addSchema(withAbsoluteReferences(document, root), root, undefined, false)
  const compiled = new Map<string, ValidateFunction>()
  const validatorOf = (schema: JsonSchema): ValidateFunction => {
    const text = JSON.stringify(schema)
    const known = compiled.get(text)
    if (known !== undefined) return known
    const made = ajv.compile(withAbsoluteReferences(schema, root))
    compiled.set(text, made)
    return made
  }
  const flatten: Flatten = (schema, value) => flattened(schema, value, { document, validatorOf })
  return (schema, value) => {
    const validate = validatorOf(schema)
    if (validate(value)) return undeclaredFields([schema], value, { path: '', flatten })
    return (validate.errors ?? []).map(
      ({ instancePath, message, params }) =>
        `${instancePath} ${message ?? ''} ${JSON.stringify(params)}`,
    )
  }
}

/** Returns the schemas that apply to a value, without `$ref` and unions. */
type Flatten = (schema: JsonSchema, value: unknown) => readonly JsonSchema[]

interface Context {
  readonly document: object
  readonly validatorOf: (schema: JsonSchema) => ValidateFunction
}

function flattened(schema: JsonSchema, value: unknown, context: Context): readonly JsonSchema[] {
  const { $ref: reference, allOf, anyOf, oneOf, ...own } = schema
  const into = (inner: JsonSchema): readonly JsonSchema[] => flattened(inner, value, context)
  const chosen = [...schemasIn(anyOf), ...schemasIn(oneOf)].filter((member) =>
    context.validatorOf(member)(value),
  )
  return [
    own,
    ...(typeof reference === 'string' ? into(partOf(context.document, reference)) : []),
    ...schemasIn(allOf).flatMap(into),
    ...chosen.flatMap(into),
  ]
}

/** Returns the paths of fields that no schema names. */
function undeclaredFields(
  schemas: readonly JsonSchema[],
  value: unknown,
  { path, flatten }: { readonly path: string; readonly flatten: Flatten },
): readonly string[] {
  const flat = schemas.flatMap((schema) => flatten(schema, value))
  if (Array.isArray(value)) {
    const items = flat.flatMap((schema) => schemasIn([schema['items']]))
    return value.flatMap((item, index) =>
      undeclaredFields(items, item, { path: `${path}/${index}`, flatten }),
    )
  }
  if (!isJsonObject(value)) return []
  const named = flat.flatMap(({ properties }) => (isJsonObject(properties) ? [properties] : []))
  const rest = flat.flatMap((schema) => schemasIn([schema['additionalProperties']]))
  return Object.entries(value).flatMap(([key, field]) => {
    const own = named.flatMap((properties) => schemasIn([properties[key]]))
    const place = `${path}/${key}`
    // A schema without named fields is open by design: any value, or a map.
    const isUnknown = own.length === 0 && rest.length === 0 && named.length > 0
    if (isUnknown) return [`${place} is not a field of its schema`]
    return undeclaredFields(own.length > 0 ? own : rest, field, { path: place, flatten })
  })
}

/** Returns the part of a document that `#/components/…` refers to. */
export function partOf(document: object, reference: string): JsonSchema {
  let part: unknown = document
  for (const step of reference.slice(2).split('/')) {
    const key = step.replaceAll('~1', '/').replaceAll('~0', '~')
    part = isJsonObject(part) ? part[key] : undefined
  }
  if (isJsonObject(part)) return part
  throw new TypeError(`The document has nothing at "${reference}"`)
}

function schemasIn(value: unknown): readonly JsonSchema[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : []
}

function withAbsoluteReferences<T>(value: T, root: string): T {
  const text = JSON.stringify(value).replaceAll('"$ref":"#/', `"$ref":"${root}#/`)
  // NOTE: the value is copied as JSON, except its references.
  return JSON.parse(text) as T
}
