/**
 * From a JSON Schema and a value to the fields of a form. Pure.
 *
 * F1 Every part of the value is in one field: its own, or that of a part that is edited as JSON.
 * F2 What cannot be drawn says why, and is edited as JSON.
 * F3 A field that may be left out and is not there has no fields inside; so a schema that refers to itself
 *    ends where the value does.
 */
import { isJsonObject } from '@tutti/protocol'

import {
  withoutNull,
  listOf,
  numberOf,
  partsOf,
  resolveNode,
  keywordText,
  type FormSchema,
} from './schema.ts'
import { childPointer } from './pointer.ts'
import { hintOf } from './hints.ts'
import { chosenVariant, variantNames } from './variants.ts'

interface FieldBase {
  readonly pointer: string
  readonly label: string
  readonly description: string | undefined
  readonly hint: string | undefined
  readonly isRequired: boolean
  /** Whether it is an item of a list, which is taken out and never left out. */
  readonly isItem: boolean
  /** Whether the value has it. */
  readonly isGiven: boolean
  /** Whether null is one of its values. */
  readonly isNullable: boolean
  readonly value: unknown
  /** The part of the schema that it is drawn from. */
  readonly schema: FormSchema
}

/** How the text of a field is typed. */
export type TextInputKind = 'text' | 'area' | 'date' | 'date-time' | 'email' | 'url' | 'time'

export type FormField = FieldBase &
  (
    | { readonly kind: 'text'; readonly input: TextInputKind }
    | { readonly kind: 'number' }
    | { readonly kind: 'boolean' }
    | { readonly kind: 'choice'; readonly options: readonly unknown[] }
    | { readonly kind: 'constant'; readonly constant: unknown }
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

/** The variants that the reader chose, by the pointer of their union. */
export type Choices = Readonly<Record<string, number>>

/** The whole form: what its schema and value are, and what was chosen. */
export interface FormSource {
  readonly schema: object
  readonly value: unknown
  /** @default {} */
  readonly choices?: Choices
}

/** Fields inside of fields at most; deeper ones are edited as JSON. */
const MAX_DEPTH = 12

interface Place {
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

export function formField({ schema, value, choices = {} }: FormSource): FormField {
  const place = { pointer: '', label: 'Value', value, isRequired: true, depth: 0 }
  return fieldAt(schema, place, { root: schema, choices })
}

/** Every field of a form, outermost first. */
export function everyField(field: FormField): readonly FormField[] {
  switch (field.kind) {
    case 'object':
      return [field, ...field.fields.flatMap(everyField)]
    case 'list':
      return [field, ...field.items.flatMap(everyField)]
    case 'union':
      return [field, ...everyField(field.field)]
    default:
      return [field]
  }
}

function fieldAt(schema: unknown, place: Place, whole: Whole): FormField {
  const node = resolveNode(schema, whole.root)
  if (node === undefined) return asJson(place, {}, 'This part of the schema cannot be drawn')
  const { node: plain, isNullable } = withoutNull(node, whole.root)
  const base = baseOf(plain, place, isNullable)
  if (place.depth > MAX_DEPTH) return { ...base, kind: 'json', why: 'Too deep to be drawn' }
  return drawn(plain, base, { place, whole })
}

function baseOf(schema: FormSchema, place: Place, isNullable: boolean): FieldBase {
  return {
    pointer: place.pointer,
    label: keywordText(schema.title) ?? place.label,
    description: keywordText(schema.description),
    hint: hintOf(schema),
    isRequired: place.isRequired,
    isItem: place.isItem ?? false,
    isGiven: place.value !== undefined,
    isNullable,
    value: place.value,
    schema,
  }
}

function asJson(place: Place, schema: FormSchema, why: string): FormField {
  return { ...baseOf(schema, place, false), kind: 'json', why }
}

interface At {
  readonly place: Place
  readonly whole: Whole
}

function drawn(schema: FormSchema, base: FieldBase, at: At): FormField {
  const variants = listOf(schema.anyOf ?? schema.oneOf)
  if (Object.hasOwn(schema, 'const')) return { ...base, kind: 'constant', constant: schema.const }
  if (Array.isArray(schema.enum)) return { ...base, kind: 'choice', options: schema.enum }
  if (variants.length > 0) return unionField(variants, base, at)
  switch (schema.type) {
    case 'string':
      return { ...base, kind: 'text', input: inputOf(schema) }
    case 'number':
    case 'integer':
      return { ...base, kind: 'number' }
    case 'boolean':
      return { ...base, kind: 'boolean' }
    case 'null':
      return { ...base, kind: 'constant', constant: null }
    case 'array':
      return listField(schema, base, at)
    case 'object':
    case undefined:
      return objectField(schema, base, at)
    default:
      return { ...base, kind: 'json', why: 'It may be of several types' }
  }
}

function inputOf({ format, maxLength, pattern }: FormSchema): TextInputKind {
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
      const isShort = (numberOf(maxLength) ?? Infinity) <= 200
      const isForm = format !== undefined || (pattern !== undefined && pattern !== '\\S')
      return isShort || isForm ? 'text' : 'area'
    }
  }
}

function objectField(schema: FormSchema, base: FieldBase, { place, whole }: At): FormField {
  const properties = partsOf(schema.properties)
  if (properties.length === 0) {
    const isEmpty = schema.type === 'object' && schema.additionalProperties === false
    if (isEmpty) return { ...base, kind: 'object', fields: [] }
    const why = schema.type === 'object' ? 'Any fields may be in it' : 'Any value may be here'
    return { ...base, kind: 'json', why }
  }
  const isDrawn = base.isGiven || base.isRequired
  if (base.isGiven && base.value !== null && !isJsonObject(base.value)) {
    return { ...base, kind: 'json', why: 'Its value is no object' }
  }
  const required = new Set(listOf(schema.required))
  const value = isJsonObject(place.value) ? place.value : {}
  const fields = properties.map(([key, part]) =>
    fieldAt(
      part,
      {
        pointer: childPointer(place.pointer, key),
        label: key,
        value: Object.hasOwn(value, key) ? value[key] : undefined,
        isRequired: required.has(key),
        depth: place.depth + 1,
      },
      whole,
    ),
  )
  const known = new Set(properties.map(([key]) => key))
  const others = Object.keys(value).filter((key) => !known.has(key))
  const more = others.map((key) =>
    asJson(
      {
        pointer: childPointer(place.pointer, key),
        label: key,
        value: value[key],
        isRequired: false,
        depth: 0,
      },
      {},
      'The schema does not name it',
    ),
  )
  return { ...base, kind: 'object', fields: isDrawn ? [...fields, ...more] : [] }
}

function listField(schema: FormSchema, base: FieldBase, { place, whole }: At): FormField {
  if (schema.prefixItems !== undefined || Array.isArray(schema.items)) {
    return { ...base, kind: 'json', why: 'Its items differ by their place' }
  }
  if (base.isGiven && base.value !== null && !Array.isArray(base.value)) {
    return { ...base, kind: 'json', why: 'Its value is no list' }
  }
  const values: readonly unknown[] = Array.isArray(place.value) ? place.value : []
  const items = values.map((value, index) =>
    fieldAt(
      schema.items ?? {},
      {
        pointer: childPointer(place.pointer, index),
        label: `${base.label} ${index + 1}`,
        value,
        isRequired: true,
        isItem: true,
        depth: place.depth + 1,
      },
      whole,
    ),
  )
  return {
    ...base,
    kind: 'list',
    items,
    mayGrow: items.length < (numberOf(schema.maxItems) ?? Infinity),
  }
}

function unionField(
  variants: readonly unknown[],
  base: FieldBase,
  { place, whole }: At,
): FormField {
  const nodes = variants.map((variant) => resolveNode(variant, whole.root))
  const fixed = nodes.map((node) => node !== undefined && Object.hasOwn(node, 'const'))
  if (fixed.every(Boolean))
    return { ...base, kind: 'choice', options: nodes.map((node) => node?.const) }
  const names = variantNames(nodes)
  const chosen = whole.choices[place.pointer] ?? chosenVariant(variants, place.value, whole.root)
  // What is beside the union holds for each of its variants.
  const { anyOf: _anyOf, oneOf: _oneOf, title: _title, description: _text, ...beside } = base.schema
  const variant =
    Object.keys(beside).length === 0 ? variants[chosen] : withBeside(nodes[chosen], beside)
  // The variant goes with its union: it cannot be left out by itself.
  const inner = {
    ...place,
    label: names[chosen] ?? '',
    isRequired: true,
    isItem: true,
    depth: place.depth + 1,
  }
  if (!base.isGiven && !base.isRequired) {
    const field = asJson(inner, {}, '')
    return { ...base, kind: 'union', variants: names, chosen, field }
  }
  return { ...base, kind: 'union', variants: names, chosen, field: fieldAt(variant, inner, whole) }
}

function withBeside(node: FormSchema | undefined, beside: FormSchema): unknown {
  return node === undefined ? undefined : { allOf: [node, beside] }
}
