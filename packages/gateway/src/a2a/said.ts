/** Pure: what a message says, out of its parts. */
import { A2aError, invalidParams } from './a2a-error.ts'
import { isObject, type Params } from './modern-params.ts'

import type { Part } from './a2a-wire.ts'
import type { Problem } from '@tutti/protocol'

/** Media types that an agent takes and gives. */
export const MEDIA_TYPES = ['text/plain', 'application/json'] as const

/** What a message says. */
export interface Said {
  /** Its texts, one after another; files of text are text. */
  readonly text: string
  /** Its data, in order. */
  readonly data: readonly unknown[]
}

const CONTENTS = ['text', 'raw', 'url', 'data'] as const

/** Words of earlier versions for what a part is. */
const KINDS: readonly unknown[] = ['text', 'data', 'file']

/**
 * Reads the parts of a message.
 *
 * @throws {A2aError} INVALID_PARAMS naming every part that is none; CONTENT_TYPE_NOT_SUPPORTED for a file that
 * is no text, and for an address: nothing is fetched on a caller's word.
 */
export function saidIn(parts: readonly Part[]): Said {
  const problems = parts.flatMap(problemsOf)
  if (problems.length > 0) throw invalidParams(problems)
  const said = parts.map(readPart)
  const texts = said.flatMap(({ text }) => (text === undefined ? [] : [text]))
  return { text: texts.join('\n'), data: said.flatMap(({ data }) => data ?? []) }
}

/** The objects among the data, merged in order. */
export function objectsIn({ data }: Said): Params {
  return Object.assign({}, ...data.filter(isObject)) as Params
}

function problemsOf(part: Part, index: number): readonly Problem[] {
  const path = `/message/parts/${index}`
  // NOTE: fields that the schema does not have are still there.
  const { kind, type } = part as Part & { readonly kind?: unknown; readonly type?: unknown }
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
  part: Part,
  index: number,
): { readonly text?: string; readonly data?: readonly unknown[] } {
  if (part.text !== undefined) return { text: part.text }
  if (Object.hasOwn(part, 'data')) return { data: [part.data] }
  if (part.url !== undefined) throw notSupported('the address of a file', part)
  return { text: fileText(part, index) }
}

const TEXT_FILE = /^(?:text\/[\w.+-]+|application\/(?:[\w.-]+\+)?json)(?:;|$)/i

const BASE64 = /^[A-Za-z0-9+/_-]*={0,2}$/

function fileText(part: Part, index: number): string {
  const { raw = '', mediaType = 'application/octet-stream' } = part
  if (!TEXT_FILE.test(mediaType)) throw notSupported('a file', part)
  const path = `/message/parts/${index}/raw`
  if (!BASE64.test(raw)) throw invalidParams([{ path, message: 'must be base64' }])
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(raw, 'base64'))
  } catch {
    throw invalidParams([{ path, message: `must be text in UTF-8, as ${mediaType} is said to be` }])
  }
}

function notSupported(what: string, { mediaType }: Part): A2aError {
  const type = mediaType === undefined ? '' : ` of "${mediaType}"`
  return new A2aError(
    'CONTENT_TYPE_NOT_SUPPORTED',
    `Incompatible content type: ${what}${type} is not supported. Send text, data, or a file of text with its bytes`,
  )
}
