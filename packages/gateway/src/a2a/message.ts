/** Pure: reads the parts of a message. */
import { A2aError, invalidParams } from './errors.ts'
import { isParams, type Params } from './params.ts'

import type { WirePart } from './wire.ts'
import type { Problem } from '@tutti/protocol/internal'

/** Media types of messages and answers. */
export const MESSAGE_MEDIA_TYPES = ['text/plain', 'application/json'] as const

export interface MessageContent {
  /** Texts and text files, joined by line breaks. */
  readonly text: string
  /** Data parts, in order. */
  readonly data: readonly unknown[]
}

const CONTENTS = ['text', 'raw', 'url', 'data'] as const

/** Values of `kind`, which parts had before A2A 1.0. */
const KINDS: readonly unknown[] = ['text', 'data', 'file']

/**
 * Reads the parts of a message.
 *
 * @throws {A2aError} INVALID_PARAMS naming every invalid part; CONTENT_TYPE_NOT_SUPPORTED for a file that is not text,
 * and for a URL: the server does not fetch what a caller names.
 */
export function readContent(parts: readonly WirePart[]): MessageContent {
  const problems = parts.flatMap(findPartProblems)
  if (problems.length > 0) throw invalidParams(problems)
  const read = parts.map(readPart)
  const texts = read.flatMap(({ text }) => (text === undefined ? [] : [text]))
  return { text: texts.join('\n'), data: read.flatMap(({ data }) => data ?? []) }
}

/** Merges the objects among the data, in order. */
export function mergeObjects({ data }: MessageContent): Params {
  return Object.assign({}, ...data.filter(isParams)) as Params
}

function findPartProblems(part: WirePart, index: number): readonly Problem[] {
  const path = `/message/parts/${index}`
  // NOTE: decoding preserves fields that are not in the schema.
  const { kind, type } = part as WirePart & { readonly kind?: unknown; readonly type?: unknown }
  const word = kind ?? type
  const given = CONTENTS.filter((content) => Object.hasOwn(part, content))
  return [
    ...(word === undefined || KINDS.includes(word)
      ? []
      : [{ path, message: `must be text, data or a file, got ${JSON.stringify(word)}` }]),
    ...(given.length === 1
      ? []
      : [
          {
            path,
            message: `must have exactly one of ${CONTENTS.join(', ')}, got ${given.join(' and ') || 'none'}`,
          },
        ]),
  ]
}

function readPart(
  part: WirePart,
  index: number,
): { readonly text?: string; readonly data?: readonly unknown[] } {
  if (part.text !== undefined) return { text: part.text }
  if (Object.hasOwn(part, 'data')) return { data: [part.data] }
  if (part.url !== undefined) throw notSupported('a file URL', part)
  return { text: readFileText(part, index) }
}

const TEXT_FILE = /^(?:text\/[\w.+-]+|application\/(?:[\w.-]+\+)?json)(?:;|$)/i

const BASE64 = /^[A-Za-z0-9+/_-]*={0,2}$/

function readFileText(part: WirePart, index: number): string {
  const { raw = '', mediaType = 'application/octet-stream' } = part
  if (!TEXT_FILE.test(mediaType)) throw notSupported('a file', part)
  const path = `/message/parts/${index}/raw`
  if (!BASE64.test(raw)) throw invalidParams([{ path, message: 'must be base64' }])
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(raw, 'base64'))
  } catch {
    throw invalidParams([
      { path, message: `must be text in UTF-8, as its media type ${mediaType} requires` },
    ])
  }
}

function notSupported(what: string, { mediaType }: WirePart): A2aError {
  const type = mediaType === undefined ? '' : ` of "${mediaType}"`
  return new A2aError(
    'CONTENT_TYPE_NOT_SUPPORTED',
    `Incompatible content type: ${what}${type} is not supported. Send text, data, or a text file with its bytes`,
  )
}
