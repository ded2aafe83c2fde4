/**
 * Converts a JSON Schema and a value to the fields of a form. Pure.
 *
 * DASH-F1 Every part of the value is in one field: its own, or an ancestor's JSON field.
 * DASH-F2 A part that the form does not support is edited as JSON, and says why.
 * DASH-F3 An absent optional field has no nested fields, so a recursive schema ends where the value
 *    ends.
 */
import { isJsonObject } from '@tutti/protocol/internal'

import {
  splitNullable,
  asList,
  asNumber,
  asEntries,
  resolveNode,
  keywordText,
  type FormSchema,
} from './schema.ts'
import { getValueAt, parsePointer, toChildPointer } from './pointer.ts'
import { describeConstraints } from './hints.ts'
import { findClosestVariant, nameVariants } from './variants.ts'

import type { FieldLook } from './field-look.ts'

interface FieldBase {
  readonly pointer: string
  readonly label: string
  readonly description: string | undefined
  readonly hint: string | undefined
  readonly isRequired: boolean
  /**
   * Whether it is an item of a list; items are always present, so they are removed rather than
   * cleared.
   */
  readonly isItem: boolean
  /** Whether the value contains it. */
  readonly isGiven: boolean
  /** Whether null is allowed. */
  readonly isNullable: boolean
  readonly value: unknown
  /** Resolved schema of the field. */
  readonly schema: FormSchema
  readonly look: FieldLook
}

export type TextInputKind = 'text' | 'area' | 'date' | 'date-time' | 'email' | 'url' | 'time'

export type FormField = FieldBase &
  (
    | { readonly kind: 'text'; readonly input: TextInputKind }
    | { readonly kind: 'number' }
    | { readonly kind: 'boolean' }
    | { readonly kind: 'choice'; readonly options: readonly unknown[] }
    | { readonly kind: 'picks'; readonly options: readonly unknown[] }
    | { readonly kind: 'constant'; readonly constant: unknown }
    | { readonly kind: 'map' }
    | { readonly kind: 'object'; readonly fields: readonly FormField[] }
    | { readonly kind: 'list'; readonly items: readonly FormField[]; readonly mayGrow: boolean }
    | {
        readonly kind: 'union'
        readonly variants: readonly string[]
        readonly chosen: number
        readonly field: FormField
      }
    | { readonly kind: 'json'; readonly why: string }
  )

/** Chosen variants, by the pointer of their union. */
export type Choices = Readonly<Record<string, number>>

/** Input of a form: schema, value and chosen variants. */
export interface FormSource {
  readonly schema: object
  readonly value: unknown
  /** Label of the whole value. @default 'Value' */
  readonly label?: string
  /** @default {} */
  readonly choices?: Choices
}

/** Maximum nesting depth; deeper fields are edited as JSON. */
const MAX_DEPTH = 12

interface FieldLocation {
  readonly pointer: string
  readonly label: string
  readonly value: unknown
  readonly isRequired: boolean
  readonly isItem?: boolean
  readonly depth: number
}

interface Whole {
  readonly root: FormSchema
  readonly choices: Choices
}

export function createFormField({
  schema,
  value,
  label = 'Value',
  choices = {},
}: FormSource): FormField {
  const location = { pointer: '', label, value, isRequired: true, depth: 0 }
  return createFieldAt(schema, location, { root: schema, choices })
}

/** Returns the field at a pointer, also if the value does not have the objects around it. */
export function createFieldAtPointer(root: object, value: unknown, pointer: string): FormField {
  let schema: unknown = root
  let isRequired = true
  for (const key of parsePointer(pointer)) {
    const node = resolveNode(schema, root) ?? {}
    const { node: plain } = splitNullable(node, root)
    isRequired = asList(plain.required).includes(key)
    const own = new Map(asEntries(plain.properties)).get(key)
    schema = own ?? plain.items ?? plain.additionalProperties
  }
  const label = parsePointer(pointer).at(-1) ?? 'Value'
  const location = { pointer, label, value: getValueAt(value, pointer), isRequired, depth: 0 }
  return createFieldAt(schema, location, { root, choices: {} })
}

/** Returns every field of a form, outermost first. */
export function listFields(field: FormField): readonly FormField[] {
  switch (field.kind) {
    case 'object':
      return [field, ...field.fields.flatMap(listFields)]
    case 'list':
      return [field, ...field.items.flatMap(listFields)]
    case 'union':
      return [field, ...listFields(field.field)]
    default:
      return [field]
  }
}

function createFieldAt(schema: unknown, location: FieldLocation, whole: Whole): FormField {
  const node = resolveNode(schema, whole.root)
  if (node === undefined)
    return createJsonField(location, {}, 'The form does not support this part of the schema')
  const { node: plain, isNullable } = splitNullable(node, whole.root)
  const base = createFieldBase(plain, location, isNullable)
  if (location.depth > MAX_DEPTH)
    return { ...base, kind: 'json', why: 'Nested too deeply for the form' }
  return createTypedField(plain, base, { location, whole })
}

function createFieldBase(
  schema: FormSchema,
  location: FieldLocation,
  isNullable: boolean,
): FieldBase {
  return {
    pointer: location.pointer,
    label: keywordText(schema.title) ?? location.label,
    description: keywordText(schema.description),
    hint: describeConstraints(schema),
    isRequired: location.isRequired,
    isItem: location.isItem ?? false,
    isGiven: location.value !== undefined,
    isNullable,
    value: location.value,
    schema,
    look: {},
  }
}

function createJsonField(location: FieldLocation, schema: FormSchema, why: string): FormField {
  return { ...createFieldBase(schema, location, false), kind: 'json', why }
}

interface At {
  readonly location: FieldLocation
  readonly whole: Whole
}

function createTypedField(schema: FormSchema, base: FieldBase, at: At): FormField {
  const variants = asList(schema.anyOf ?? schema.oneOf)
  if (Object.hasOwn(schema, 'const')) return { ...base, kind: 'constant', constant: schema.const }
  if (Array.isArray(schema.enum)) return { ...base, kind: 'choice', options: schema.enum }
  if (variants.length > 0) return createUnionField(variants, base, at)
  switch (schema.type) {
    case 'string':
      return { ...base, kind: 'text', input: chooseTextInput(schema) }
    case 'number':
    case 'integer':
      return { ...base, kind: 'number' }
    case 'boolean':
      return { ...base, kind: 'boolean' }
    case 'null':
      return { ...base, kind: 'constant', constant: null }
    case 'array':
      return createListField(schema, base, at)
    case 'object':
    case undefined:
      return createObjectField(schema, base, at)
    default:
      return { ...base, kind: 'json', why: 'Several types are allowed' }
  }
}

function chooseTextInput({ format, maxLength, pattern }: FormSchema): TextInputKind {
  switch (format) {
    case 'date':
    case 'date-time':
    case 'time':
    case 'email':
      return format
    case 'uri':
    case 'url':
      return 'url'
    case 'multiline':
    case 'textarea':
    case 'markdown':
      return 'area'
    default: {
      const isShort = (asNumber(maxLength) ?? Infinity) <= 200
      const isForm = format !== undefined || (pattern !== undefined && pattern !== '\\S')
      return isShort || isForm ? 'text' : 'area'
    }
  }
}

function createObjectField(
  schema: FormSchema,
  base: FieldBase,
  { location, whole }: At,
): FormField {
  const properties = asEntries(schema.properties)
  if (properties.length === 0) {
    const isEmpty = schema.type === 'object' && schema.additionalProperties === false
    if (isEmpty) return { ...base, kind: 'object', fields: [] }
    if (isMap(schema, base.value, whole.root)) return { ...base, kind: 'map' }
    const why = schema.type === 'object' ? 'Any fields are allowed' : 'Any value is allowed'
    return { ...base, kind: 'json', why }
  }
  const isDrawn = base.isGiven || base.isRequired
  if (base.isGiven && base.value !== null && !isJsonObject(base.value)) {
    return { ...base, kind: 'json', why: 'The value is not an object' }
  }
  const required = new Set(asList(schema.required))
  const value = isJsonObject(location.value) ? location.value : {}
  const fields = properties.map(([key, part]) =>
    createFieldAt(
      part,
      {
        pointer: toChildPointer(location.pointer, key),
        label: key,
        value: Object.hasOwn(value, key) ? value[key] : undefined,
        isRequired: required.has(key),
        depth: location.depth + 1,
      },
      whole,
    ),
  )
  const known = new Set(properties.map(([key]) => key))
  const others = Object.keys(value).filter((key) => !known.has(key))
  const more = others.map((key) =>
    createJsonField(
      {
        pointer: toChildPointer(location.pointer, key),
        label: key,
        value: value[key],
        isRequired: false,
        depth: 0,
      },
      {},
      'Not defined by the schema',
    ),
  )
  return { ...base, kind: 'object', fields: isDrawn ? [...fields, ...more] : [] }
}

/** Whether an object has any keys, and values that are edited as text. */
function isMap({ additionalProperties }: FormSchema, value: unknown, root: FormSchema): boolean {
  const node = resolveNode(additionalProperties, root)
  const variants = asList(node?.anyOf ?? [node])
  const isText = variants.some((one) => resolveNode(one, root)?.type === 'string')
  const isSimple = variants.every((one) => {
    const { type, enum: options } = resolveNode(one, root) ?? {}
    return (
      options === undefined && ['string', 'number', 'integer', 'boolean'].includes(String(type))
    )
  })
  if (value !== undefined && !isJsonObject(value)) return false
  const values = Object.values(value ?? {})
  return isText && isSimple && values.every((one) => typeof one !== 'object')
}

function createListField(schema: FormSchema, base: FieldBase, { location, whole }: At): FormField {
  if (schema.prefixItems !== undefined || Array.isArray(schema.items)) {
    return { ...base, kind: 'json', why: 'The schema of an item depends on its position' }
  }
  if (base.isGiven && base.value !== null && !Array.isArray(base.value)) {
    return { ...base, kind: 'json', why: 'The value is not a list' }
  }
  const values: readonly unknown[] = Array.isArray(location.value) ? location.value : []
  const items = values.map((value, index) =>
    createFieldAt(
      schema.items ?? {},
      {
        pointer: toChildPointer(location.pointer, index),
        label: `${base.label} ${index + 1}`,
        value,
        isRequired: true,
        isItem: true,
        depth: location.depth + 1,
      },
      whole,
    ),
  )
  return {
    ...base,
    kind: 'list',
    items,
    mayGrow: items.length < (asNumber(schema.maxItems) ?? Infinity),
  }
}

function createUnionField(
  variants: readonly unknown[],
  base: FieldBase,
  { location, whole }: At,
): FormField {
  const nodes = variants.map((variant) => resolveNode(variant, whole.root))
  const fixed = nodes.map((node) => node !== undefined && Object.hasOwn(node, 'const'))
  if (fixed.every(Boolean))
    return { ...base, kind: 'choice', options: nodes.map((node) => node?.const) }
  const names = nameVariants(nodes)
  const chosen =
    whole.choices[location.pointer] ?? findClosestVariant(variants, location.value, whole.root)
  // Keywords next to the union apply to each of its variants.
  const {
    anyOf: _anyOf,
    oneOf: _oneOf,
    title: _title,
    description: _text,
    ...siblings
  } = base.schema
  const variant =
    Object.keys(siblings).length === 0 ? variants[chosen] : mergeSiblings(nodes[chosen], siblings)
  // The variant is part of its union and cannot be removed separately.
  const inner = {
    ...location,
    label: names[chosen] ?? '',
    isRequired: true,
    isItem: true,
    depth: location.depth + 1,
  }
  if (!base.isGiven && !base.isRequired) {
    const field = createJsonField(inner, {}, '')
    return { ...base, kind: 'union', variants: names, chosen, field }
  }
  return {
    ...base,
    kind: 'union',
    variants: names,
    chosen,
    field: createFieldAt(variant, inner, whole),
  }
}

function mergeSiblings(node: FormSchema | undefined, siblings: FormSchema): unknown {
  return node === undefined ? undefined : { allOf: [node, siblings] }
}
