/**
 * Converts an input schema to the keywords that Gemini accepts, a part of OpenAPI 3.0: one type per schema, `enum` of
 * texts alone, no references, no `const`, `oneOf` or `allOf`. A keyword without an equivalent moves to the
 * description; the tool validates its input against its own schema in any case. Pure.
 *
 * @see https://ai.google.dev/api/caching#Schema
 */
import { describeKeywords } from './describe-keywords.ts'
import { fieldsIn, isFields, mapValues, type PlainSchema } from './map-schema.ts'

import type { KeywordRule } from './rule.ts'

/** Keywords that do not affect the input. */
const DROPPED: ReadonlySet<string> = new Set([
  '$anchor',
  '$comment',
  '$defs',
  '$id',
  '$schema',
  'definitions',
  'deprecated',
  'examples',
  'readOnly',
  'writeOnly',
])

/** Keywords that apply to one type only. */
const OF_TYPE: Readonly<Record<string, readonly string[]>> = {
  string: ['enum', 'format', 'maxLength', 'minLength', 'pattern'],
  number: ['format', 'maximum', 'minimum'],
  integer: ['format', 'maximum', 'minimum'],
  array: ['items', 'maxItems', 'minItems'],
  object: ['maxProperties', 'minProperties', 'properties', 'propertyOrdering', 'required'],
}

const TYPED: ReadonlySet<string> = new Set(Object.values(OF_TYPE).flat())

/** Maximum number of references that are replaced by their schemas: these can refer to each other many times. */
const MAX_REFERENCES = 500

/** Schema of any value: the provider requires a type. */
const ANY: readonly PlainSchema[] = [
  { type: 'string' },
  { type: 'number' },
  { type: 'boolean' },
  { type: 'object' },
]

interface Walk {
  readonly root: PlainSchema
  readonly rule: KeywordRule
  /** References that lead to this schema. */
  readonly path: readonly string[]
  /** References so far, in the whole schema. */
  readonly count: { references: number }
}

/** Returns the schema with keywords that `rule` accepts. */
export function limitKeywords(root: PlainSchema, rule: KeywordRule): PlainSchema {
  return limit(root, { root, rule, path: [], count: { references: 0 } })
}

function limit(schema: unknown, walk: Walk): PlainSchema {
  if (!isFields(schema)) return limit(schema === false ? { not: {} } : {}, walk)
  const { $ref } = schema
  if (typeof $ref === 'string') return followReference(schema, $ref, walk)
  if (Array.isArray(schema['allOf'])) return limit(mergeParts(schema, walk), walk)
  const { anyOf, oneOf } = schema
  const choice: unknown = anyOf ?? oneOf
  if (Array.isArray(choice) && !isTyped(schema)) return limitChoice(schema, choice, walk)
  const types = readTypes(schema)
  const kinds = types.filter((type) => type !== 'null')
  const nullable = kinds.length < types.length && kinds.length > 0
  if (kinds.length > 1) {
    const forms = kinds.map((type) => pickType(schema, type))
    return toChoice(
      forms.map((form) => limit(form, walk)),
      { description: schema['description'], nullable },
    )
  }
  const [type = 'null'] = kinds
  const limited = limitType({ ...schema, ...(types.length > 0 && { type }) }, walk)
  if (types.length === 0) return toChoice(ANY, { description: limited['description'], nullable })
  return nullable ? { ...limited, nullable } : limited
}

/** Returns whether a choice restricts a schema that also has a type. */
function isTyped({ type, properties, items }: PlainSchema): boolean {
  return type !== undefined || properties !== undefined || items !== undefined
}

/** Returns the types of a schema; for one without, those of its values, or the type that its keywords apply to. */
function readTypes({ type, properties, items, ...others }: PlainSchema): readonly string[] {
  if (typeof type === 'string') return [type]
  if (Array.isArray(type)) return type.filter((each) => typeof each === 'string')
  if (properties !== undefined) return ['object']
  if (items !== undefined) return ['array']
  const values = listValues(others)
  if (values.length > 0) return [...new Set(values.map(typeOf))]
  const implied = Object.entries(OF_TYPE).find(([, keywords]) =>
    keywords.some((keyword) => keyword in others),
  )
  return implied === undefined ? [] : [implied[0]]
}

function typeOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  return typeof value
}

/** Returns the values of `const` and `enum`. */
function listValues(schema: PlainSchema): readonly unknown[] {
  if ('const' in schema) return [schema['const']]
  return Array.isArray(schema['enum']) ? schema['enum'] : []
}

/** Returns the part of a schema with several types that applies to one of them. */
function pickType(schema: PlainSchema, type: string): PlainSchema {
  const own: readonly string[] = OF_TYPE[type] ?? []
  const values = listValues(schema).filter((value) => typeOf(value) === type)
  const { const: _const, enum: _enum, description: _description, ...others } = schema
  const kept = Object.entries(others).filter(([key]) => !TYPED.has(key) || own.includes(key))
  return { ...Object.fromEntries(kept), type, ...(values.length > 0 && { enum: values }) }
}

function followReference(schema: PlainSchema, $ref: string, walk: Walk): PlainSchema {
  walk.count.references += 1
  const isOpen = walk.count.references <= MAX_REFERENCES && !walk.path.includes($ref)
  const target = isOpen ? resolve(walk.root, $ref) : undefined
  const { $ref: _ref, ...siblings } = schema
  if (target === undefined) {
    return { type: 'object', description: describeKeywords(siblings['description'], { $ref }) }
  }
  return limit({ ...fieldsIn(target), ...siblings }, { ...walk, path: [...walk.path, $ref] })
}

function resolve(root: PlainSchema, pointer: string): unknown {
  if (pointer !== '#' && !pointer.startsWith('#/')) return undefined
  let value: unknown = root
  for (const part of pointer.split('/').slice(1)) {
    const name = decode(part).replaceAll('~1', '/').replaceAll('~0', '~')
    value = Array.isArray(value) ? (value as unknown[])[Number(name)] : fieldsIn(value)[name]
  }
  return value
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

/** Returns one schema with the keywords of all parts; of a keyword that parts have in common, the first one. */
function mergeParts({ allOf, ...own }: PlainSchema, walk: Walk): PlainSchema {
  const parts = (Array.isArray(allOf) ? allOf : []).map((part: unknown) => limit(part, walk))
  const all = [own, ...parts]
  const properties = Object.assign({}, ...all.map((part) => fieldsIn(part['properties'])))
  const required = all.flatMap((part) => (Array.isArray(part['required']) ? part['required'] : []))
  return {
    ...Object.assign({}, ...all.toReversed()),
    ...(Object.keys(properties).length > 0 && { type: 'object', properties }),
    ...(required.length > 0 && { required }),
  }
}

function limitChoice(schema: PlainSchema, choice: readonly unknown[], walk: Walk): PlainSchema {
  const {
    anyOf: _anyOf,
    oneOf: _oneOf,
    description,
    default: _default,
    title: _title,
    ...rest
  } = schema
  const forms = choice.map((form) => limit(isFields(form) ? { ...rest, ...form } : form, walk))
  const others = forms.filter(({ type }) => type !== 'null')
  const nullable = others.length < forms.length
  return toChoice(others, { description, nullable })
}

interface ChoiceOptions {
  readonly description: unknown
  readonly nullable: boolean
}

/** Returns a choice; the provider accepts no other keyword with it. */
function toChoice(
  forms: readonly PlainSchema[],
  { description, nullable }: ChoiceOptions,
): PlainSchema {
  const flat = forms.flatMap((form): readonly PlainSchema[] =>
    Array.isArray(form['anyOf']) ? form['anyOf'].map(fieldsIn) : [form],
  )
  const described = flat.map((form, index) => ({
    ...form,
    ...(nullable && { nullable }),
    ...(index === 0 && describeBoth(description, form['description'])),
  }))
  const [only = { type: 'null' }, ...others] = described
  return others.length === 0 ? only : { anyOf: described }
}

function describeBoth(outer: unknown, inner: unknown): PlainSchema {
  const said = [outer, inner].filter((text) => typeof text === 'string')
  return said.length === 0 ? {} : { description: said.join('\n') }
}

/** Limits a schema with at most one type. */
function limitType(schema: PlainSchema, walk: Walk): PlainSchema {
  const kept: Record<string, unknown> = {}
  const words: Record<string, unknown> = {}
  for (const [keyword, value] of Object.entries(schema)) {
    if (DROPPED.has(keyword) || keyword === 'description') continue
    if (keyword === 'additionalProperties' && typeof value === 'boolean') continue
    const limited = limitKeyword(keyword, value, { schema, walk })
    if (limited === undefined) words[keyword] = value
    else kept[limited[0]] = limited[1]
  }
  if (kept['type'] === 'array') kept['items'] ??= limit({}, walk)
  const description = describeKeywords(schema['description'], words)
  return { ...withRequired(kept), ...(description !== undefined && { description }) }
}

/** Returns the keyword and its value in the accepted form; undefined when it has none. */
function limitKeyword(
  keyword: string,
  value: unknown,
  { schema, walk }: { readonly schema: PlainSchema; readonly walk: Walk },
): readonly [string, unknown] | undefined {
  const type = String(schema['type'])
  switch (keyword) {
    case 'const':
      return type === 'string' && value !== '' ? ['enum', [value]] : undefined
    case 'enum':
      return type === 'string' && isTextList(value) ? ['enum', value] : undefined
    case 'format': {
      const formats: readonly unknown[] = walk.rule.formats[type] ?? []
      return formats.includes(value) ? ['format', value] : undefined
    }
    case 'properties': {
      const properties = mapValues(fieldsIn(value), (each) => limit(each, walk))
      return ['properties', properties]
    }
    case 'items':
      return isFields(value) ? ['items', limit(value, walk)] : undefined
    case 'anyOf':
      return undefined
    default:
      return walk.rule.keywords.has(keyword) ? [keyword, value] : undefined
  }
}

function isTextList(value: unknown): boolean {
  return Array.isArray(value) && value.every((each) => typeof each === 'string' && each !== '')
}

/** Removes required names without a property, and an empty list of properties. */
function withRequired({ properties, required, ...others }: PlainSchema): PlainSchema {
  const known = fieldsIn(properties)
  const names = (Array.isArray(required) ? required : []).filter(
    (name: unknown) => typeof name === 'string' && Object.hasOwn(known, name),
  )
  return {
    ...others,
    ...(Object.keys(known).length > 0 && { properties: known }),
    ...(names.length > 0 && { required: [...new Set(names)] }),
  }
}
