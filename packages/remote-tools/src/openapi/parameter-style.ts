/**
 * Serializes values of parameters. Pure.
 *
 * @see https://spec.openapis.org/oas/v3.1.1.html#style-values
 */
import { isJsonObject } from '@tutti/core/internal'

import { scalarText } from '../http/request-parts.ts'
import { encodeText } from '../http/url-template.ts'

/** The serialization of a parameter. */
export interface ParameterStyle {
  readonly name: string
  readonly style: string
  readonly explode: boolean
  /** Whether reserved characters are not encoded, except those that separate fields. */
  readonly allowReserved: boolean
}

type Encode = (text: string) => string

/** Serializes a value for a path, encoded. */
export function pathText(value: unknown, { name, style, explode }: ParameterStyle): string {
  const encode = encodeText
  if (style === 'label')
    return `.${listText(value, { encode, explode, separator: explode ? '.' : ',' })}`
  if (style !== 'matrix') return listText(value, { encode, explode, separator: ',' })
  const key = encode(name)
  if (explode && Array.isArray(value)) {
    return value.map((item) => `;${key}=${encode(scalarText(item))}`).join('')
  }
  if (explode && isJsonObject(value)) {
    return toEntries(value)
      .map(([field, item]) => `;${encode(field)}=${encode(item)}`)
      .join('')
  }
  return `;${key}=${listText(value, { encode, explode: false, separator: ',' })}`
}

/** Serializes a value for a header, which has no encoding. */
export function headerText(value: unknown, { explode }: ParameterStyle): string {
  return listText(value, { encode: (text) => text, explode, separator: ',' })
}

/** Serializes a value as fields of a query, encoded, such as `a=1`. */
export function queryFields(value: unknown, parameter: ParameterStyle): readonly string[] {
  const { name, style, explode } = parameter
  const encode = parameter.allowReserved ? encodeUnreserved : encodeText
  const key = encodeText(name)
  if (value === null || value === undefined) return []
  if (style === 'deepObject' && typeof value === 'object') return deepFields(key, value, encode)
  if (Array.isArray(value)) {
    if (explode) return value.map((item) => `${key}=${encode(scalarText(item))}`)
    return [`${key}=${value.map((item) => encode(scalarText(item))).join(findSeparator(style))}`]
  }
  if (!isJsonObject(value)) return [`${key}=${encode(scalarText(value))}`]
  if (explode)
    return toEntries(value).map(([field, item]) => `${encodeText(field)}=${encode(item)}`)
  const flat = toEntries(value).flatMap(([field, item]) => [encode(field), encode(item)])
  return [`${key}=${flat.join(findSeparator(style))}`]
}

/** Serializes a value as pairs of a `Cookie` header. */
export function cookiePairs(value: unknown, parameter: ParameterStyle): readonly string[] {
  return queryFields(value, { ...parameter, style: 'form', allowReserved: false })
}

function findSeparator(style: string): string {
  if (style === 'spaceDelimited') return '%20'
  return style === 'pipeDelimited' ? '%7C' : ','
}

interface ListStyle {
  readonly encode: Encode
  readonly explode: boolean
  readonly separator: string
}

/** Serializes a list as `a,b`, an object as `k,v` or, exploded, `k=v`, and another value as text. */
function listText(value: unknown, { encode, explode, separator }: ListStyle): string {
  if (Array.isArray(value)) return value.map((item) => encode(scalarText(item))).join(separator)
  if (!isJsonObject(value)) return encode(scalarText(value))
  return toEntries(value)
    .map(([field, item]) => `${encode(field)}${explode ? '=' : separator}${encode(item)}`)
    .join(separator)
}

function toEntries(value: object): readonly (readonly [string, string])[] {
  return Object.entries(value)
    .filter(([, item]) => item !== null && item !== undefined)
    .map(([field, item]) => [field, scalarText(item)] as const)
}

/** Serializes nested values as `key[a][b]=1`, with the indexes of list items, as services with this style expect. */
function deepFields(key: string, value: object, encode: Encode): readonly string[] {
  return Object.entries(value).flatMap(([field, item]: [string, unknown]) => {
    const name = `${key}[${encodeText(field)}]`
    if (item === null || item === undefined) return []
    if (typeof item === 'object') return deepFields(name, item, encode)
    return [`${name}=${encode(scalarText(item))}`]
  })
}

/** Encodes text except reserved characters; those that would end or change the value are encoded. */
function encodeUnreserved(text: string): string {
  return encodeText(text).replaceAll(/%(3A|2F|3F|5B|5D|40|21|24|27|28|29|2A|2C|3B)/g, (code) =>
    decodeURIComponent(code),
  )
}
