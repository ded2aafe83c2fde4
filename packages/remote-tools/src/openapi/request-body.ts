/**
 * Chooses the content type of a request body and encodes the body. Pure except for the random boundary of multipart
 * bodies.
 *
 * REMOTE-RB1 The first content type that the operation offers is used: JSON, form, multipart, text, bytes, or any
 *    other type as text.
 * REMOTE-RB2 Bytes are base64 in the input, because models write only text.
 */
import { formatExactJson, isJsonObject } from '@tutti/core/internal'

import { randomUUID } from 'node:crypto'

import { scalarText } from '../http/request-parts.ts'
import { asObject, asText, type OpenApiNode, type OpenApiReader } from './document.ts'
import { queryFields } from './parameter-style.ts'

/** Encoding of a body. */
export type BodyKind = 'json' | 'form' | 'multipart' | 'bytes' | 'text'

/** The body of an operation. */
export interface RequestBody {
  readonly kind: BodyKind
  readonly contentType: string
  readonly required: boolean
  readonly description: string | undefined
  /** Schema as in the document, with base64 text in place of bytes. */
  readonly schema: unknown
  /** Encoding of the fields of forms and multipart bodies, by name. */
  readonly encoding: OpenApiNode
  /** Fields of a multipart body that are bytes. */
  readonly binaryFields: ReadonlySet<string>
}

/** Returns the body of an operation; undefined when it has none. */
export function readRequestBody(
  document: OpenApiReader,
  operation: OpenApiNode,
): RequestBody | undefined {
  const body = document.resolve(operation['requestBody'])
  const chosen = chooseContent(asObject(body['content']))
  if (chosen === undefined) return undefined
  const { kind, contentType, media } = chosen
  const schema = media['schema'] ?? {}
  const binaryFields = new Set(kind === 'multipart' ? findBinaryFields(document, schema) : [])
  return {
    kind,
    contentType,
    required: body['required'] === true,
    description: asText(body['description']),
    schema: toInputSchema({ kind, contentType, schema, binaryFields }, document),
    encoding: asObject(media['encoding']),
    binaryFields,
  }
}

/** Kinds in order of preference, with their content types. */
const KINDS: readonly (readonly [BodyKind, RegExp])[] = [
  ['json', /^application\/json\b/i],
  ['json', /^[^;]*[+/]json\b|^\*\/\*/i],
  ['form', /^application\/x-www-form-urlencoded\b/i],
  ['multipart', /^multipart\/(form-data|\*)/i],
  ['text', /^text\//i],
  ['bytes', /^(application\/(octet-stream|pdf|zip|gzip|x-tar)|image\/|audio\/|video\/)/i],
  ['text', /^/],
]

function chooseContent(content: OpenApiNode) {
  const types = Object.keys(content)
  for (const [kind, pattern] of KINDS) {
    const type = types.find((one) => pattern.test(one))
    if (type === undefined) continue
    return { kind, contentType: toConcreteType(type, kind), media: asObject(content[type]) }
  }
  return undefined
}

const CONCRETE: Readonly<Record<BodyKind, string>> = {
  json: 'application/json',
  form: 'application/x-www-form-urlencoded',
  multipart: 'multipart/form-data',
  text: 'text/plain; charset=UTF-8',
  bytes: 'application/octet-stream',
}

/** Replaces a range such as `text/*` with a type that can be sent. */
function toConcreteType(type: string, kind: BodyKind): string {
  return type.includes('*') || kind === 'multipart' ? CONCRETE[kind] : type
}

const BASE64 = 'Bytes, as base64'

function toInputSchema(
  {
    kind,
    contentType,
    schema,
    binaryFields,
  }: Pick<RequestBody, 'kind' | 'contentType' | 'schema' | 'binaryFields'>,
  document: OpenApiReader,
): unknown {
  if (kind === 'bytes') return { type: 'string', contentEncoding: 'base64', description: BASE64 }
  if (kind === 'text') return { type: 'string', description: `A document of type ${contentType}` }
  if (binaryFields.size === 0) return schema
  const resolved = document.resolve(schema)
  const properties = Object.entries(asObject(resolved['properties'])).map(([name, part]) => [
    name,
    binaryFields.has(name) ? toBase64Schema(document.resolve(part)) : part,
  ])
  return { ...resolved, properties: Object.fromEntries(properties) }
}

function toBase64Schema({ description, type }: OpenApiNode): OpenApiNode {
  const text = asText(description)
  const one = { type: 'string', contentEncoding: 'base64' }
  return {
    ...(type === 'array' ? { type, items: one } : one),
    description: text === undefined ? BASE64 : `${text} (${BASE64})`,
  }
}

function findBinaryFields(document: OpenApiReader, schema: unknown): readonly string[] {
  const properties = asObject(document.resolve(schema)['properties'])
  return Object.keys(properties).filter((name) => {
    const part = document.resolve(properties[name])
    return isBinary(part) || isBinary(document.resolve(part['items']))
  })
}

function isBinary({ format, contentMediaType, contentEncoding }: OpenApiNode): boolean {
  if (format === 'binary') return true
  return (
    contentEncoding === undefined &&
    typeof contentMediaType === 'string' &&
    !/^text\/|json/i.test(contentMediaType)
  )
}

/** An encoded body. */
export interface SentBody {
  readonly contentType: string
  readonly body: string | Uint8Array
}

export function encodeRequestBody(value: unknown, body: RequestBody): SentBody {
  const { kind, contentType } = body
  if (kind === 'json') return { contentType, body: formatExactJson(value) ?? '' }
  if (kind === 'form' && isJsonObject(value)) return { contentType, body: encodeForm(value, body) }
  if (kind === 'multipart' && isJsonObject(value)) return encodeMultipart(value, body)
  if (kind === 'bytes') return { contentType, body: Buffer.from(scalarText(value), 'base64') }
  return { contentType, body: scalarText(value) }
}

/** Encodes a form. Fields use `style`; objects without one are sent as JSON text. */
function encodeForm(value: OpenApiNode, { encoding }: RequestBody): string {
  return Object.entries(value)
    .flatMap(([name, item]) => {
      const { style, explode, allowReserved } = asObject(encoding[name])
      const parameter = {
        name,
        style: asText(style) ?? 'form',
        explode: typeof explode === 'boolean' ? explode : true,
        allowReserved: allowReserved === true,
      }
      return queryFields(
        style === undefined && isJsonObject(item) ? scalarText(item) : item,
        parameter,
      )
    })
    .join('&')
}

/** @see https://www.rfc-editor.org/rfc/rfc7578 */
function encodeMultipart(value: OpenApiNode, { encoding, binaryFields }: RequestBody): SentBody {
  const boundary = `tutti-${randomUUID()}`
  const chunks: Uint8Array[] = []
  for (const [name, given] of Object.entries(value)) {
    for (const item of Array.isArray(given) ? given : [given]) {
      if (item === null || item === undefined) continue
      const binary = binaryFields.has(name)
      const type = choosePartType(item, { binary, given: asObject(encoding[name])['contentType'] })
      const file = binary ? `; filename="${escapeName(name)}"` : ''
      const head = `--${boundary}\r\nContent-Disposition: form-data; name="${escapeName(name)}"${file}\r\n`
      chunks.push(
        Buffer.from(`${head}${type === undefined ? '' : `Content-Type: ${type}\r\n`}\r\n`),
      )
      chunks.push(Buffer.from(scalarText(item), binary ? 'base64' : 'utf8'), Buffer.from('\r\n'))
    }
  }
  chunks.push(Buffer.from(`--${boundary}--\r\n`))
  const contentType = `multipart/form-data; boundary=${boundary}`
  return { contentType, body: Buffer.concat(chunks) }
}

function choosePartType(
  item: unknown,
  { binary, given }: { readonly binary: boolean; readonly given: unknown },
): string | undefined {
  // The service accepts each type of the list, so the first one is used.
  const [first] = asText(given)?.split(',') ?? []
  if (first !== undefined && /^[\w.+-]+\/[\w.+-]+(; ?[\w=-]+)*$/.test(first)) return first
  if (binary) return 'application/octet-stream'
  return typeof item === 'object' ? 'application/json' : undefined
}

/** Escapes a name in a header as browsers do. */
function escapeName(name: string): string {
  return name.replaceAll('\r', '%0D').replaceAll('\n', '%0A').replaceAll('"', '%22')
}
