/**
 * The body of an operation: which of its content types is sent, and how. Pure but for the boundary of
 * multipart bodies.
 *
 * B1 JSON where it is offered; then a form, parts, text, bytes, and any other type as text.
 * B2 Bytes are base64 in the input: models write text alone.
 */
import { isJsonObject } from '@tutti/core'

import { randomUUID } from 'node:crypto'

import { scalarText } from '../http/request-parts.ts'
import { asObject, asText, type OpenApiNode, type OpenApiReader } from './document.ts'
import { queryFields } from './parameter-style.ts'

/** How a body is written. */
export type BodyKind = 'json' | 'form' | 'multipart' | 'bytes' | 'text'

/** The body of an operation, read. */
export interface RequestBody {
  readonly kind: BodyKind
  readonly contentType: string
  readonly required: boolean
  readonly description: string | undefined
  /** As the document has it, with base64 text in place of bytes. */
  readonly schema: unknown
  /** How the fields of forms and parts are written, by name. */
  readonly encoding: OpenApiNode
  /** Fields of a multipart body that are bytes. */
  readonly binaryFields: ReadonlySet<string>
}

/** The body of an operation, or undefined when it has none. */
export function requestBodyOf(
  document: OpenApiReader,
  operation: OpenApiNode,
): RequestBody | undefined {
  const body = document.resolve(operation['requestBody'])
  const chosen = chosenContent(asObject(body['content']))
  if (chosen === undefined) return undefined
  const { kind, contentType, media } = chosen
  const schema = media['schema'] ?? {}
  const binaryFields = new Set(kind === 'multipart' ? binaryFieldsOf(document, schema) : [])
  return {
    kind,
    contentType,
    required: body['required'] === true,
    description: asText(body['description']),
    schema: inputSchema({ kind, contentType, schema, binaryFields }, document),
    encoding: asObject(media['encoding']),
    binaryFields,
  }
}

/** The kinds in the order of preference, and the content types that they are. */
const KINDS: readonly (readonly [BodyKind, RegExp])[] = [
  ['json', /^application\/json\b/i],
  ['json', /^[^;]*[+/]json\b|^\*\/\*/i],
  ['form', /^application\/x-www-form-urlencoded\b/i],
  ['multipart', /^multipart\/(form-data|\*)/i],
  ['text', /^text\//i],
  ['bytes', /^(application\/(octet-stream|pdf|zip|gzip|x-tar)|image\/|audio\/|video\/)/i],
  ['text', /^/],
]

function chosenContent(content: OpenApiNode) {
  const types = Object.keys(content)
  for (const [kind, pattern] of KINDS) {
    const type = types.find((one) => pattern.test(one))
    if (type === undefined) continue
    return { kind, contentType: concrete(type, kind), media: asObject(content[type]) }
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

/** A type that can be sent, in place of a range such as `text/*`. */
function concrete(type: string, kind: BodyKind): string {
  return type.includes('*') || kind === 'multipart' ? CONCRETE[kind] : type
}

const BASE64 = 'Bytes, as base64'

function inputSchema(
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
    binaryFields.has(name) ? base64Schema(document.resolve(part)) : part,
  ])
  return { ...resolved, properties: Object.fromEntries(properties) }
}

function base64Schema({ description, type }: OpenApiNode): OpenApiNode {
  const said = asText(description)
  const one = { type: 'string', contentEncoding: 'base64' }
  return {
    ...(type === 'array' ? { type, items: one } : one),
    description: said === undefined ? BASE64 : `${said} (${BASE64})`,
  }
}

function binaryFieldsOf(document: OpenApiReader, schema: unknown): readonly string[] {
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

/** A body as it is sent. */
export interface SentBody {
  readonly contentType: string
  readonly body: string | Uint8Array
}

/** Writes a body. */
export function sentBody(value: unknown, body: RequestBody): SentBody {
  const { kind, contentType } = body
  if (kind === 'json') return { contentType, body: JSON.stringify(value) }
  if (kind === 'form' && isJsonObject(value)) return { contentType, body: formText(value, body) }
  if (kind === 'multipart' && isJsonObject(value)) return multipart(value, body)
  if (kind === 'bytes') return { contentType, body: Buffer.from(scalarText(value), 'base64') }
  return { contentType, body: scalarText(value) }
}

/** Fields whose style is given are written in it; others, when they are objects, as JSON text. */
function formText(value: OpenApiNode, { encoding }: RequestBody): string {
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
function multipart(value: OpenApiNode, { encoding, binaryFields }: RequestBody): SentBody {
  const boundary = `tutti-${randomUUID()}`
  const chunks: Uint8Array[] = []
  for (const [name, given] of Object.entries(value)) {
    for (const item of Array.isArray(given) ? given : [given]) {
      if (item === null || item === undefined) continue
      const binary = binaryFields.has(name)
      const type = partType(item, { binary, given: asObject(encoding[name])['contentType'] })
      const file = binary ? `; filename="${quoted(name)}"` : ''
      const head = `--${boundary}\r\nContent-Disposition: form-data; name="${quoted(name)}"${file}\r\n`
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

function partType(
  item: unknown,
  { binary, given }: { readonly binary: boolean; readonly given: unknown },
): string | undefined {
  // A list of types is one that the service accepts; the first is as good as any.
  const [first] = asText(given)?.split(',') ?? []
  if (first !== undefined && /^[\w.+-]+\/[\w.+-]+(; ?[\w=-]+)*$/.test(first)) return first
  if (binary) return 'application/octet-stream'
  return typeof item === 'object' ? 'application/json' : undefined
}

/** A name within a header, as browsers write it. */
function quoted(name: string): string {
  return name.replaceAll('\r', '%0D').replaceAll('\n', '%0A').replaceAll('"', '%22')
}
