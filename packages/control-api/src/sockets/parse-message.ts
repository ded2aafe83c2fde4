/**
 * Reads a message of a client in two steps, so that the sender's scope is checked in between: describing what is
 * wrong with a message is the expensive part, and its result is only for callers that may send it.
 */
import { decodeClientMessage, type ClientMessage } from '@tutti/protocol'
import { badRequest, parseJsonBytes } from '@tutti/gateway'

import type { TuttiError } from '@tutti/core'
import type { RawData } from 'ws'

/** JSON that may be a message, or why it is not JSON. */
export type ParsedMessage =
  | {
      readonly ok: true
      readonly value: unknown
      readonly head: MessageHead
      /** Whether it is cheap to decode, whoever sent it. */
      readonly isShort: boolean
    }
  | { readonly ok: false; readonly error: TuttiError; readonly head: MessageHead }

/** What says which message it is, as far as it is there. */
export interface MessageHead {
  readonly type?: string
  readonly requestId?: string
}

/** Maximum length of a request id that is repeated in a reply; the schema has the same limit. */
const MAX_REQUEST_ID = 200

/** Length in bytes up to which a message is short. */
const SHORT = 4_096

/** Parses JSON and reads which message it says it is. Never throws. */
export function parseMessage(data: RawData): ParsedMessage {
  const bytes = toBytes(data)
  const parsed = parseJsonBytes(bytes)
  if (!parsed.ok) return { ok: false, error: badRequest('message', [parsed.problem]), head: {} }
  const { value } = parsed
  return { ok: true, value, head: readHead(value), isShort: bytes.length <= SHORT }
}

/** Returns the message that a caller without its scope has sent, for the form of the refusal, if that is cheap. */
export function decodeRefusedMessage(parsed: ParsedMessage): ClientMessage | undefined {
  if (!parsed.ok || !parsed.isShort) return undefined
  const decoded = decodeClientMessage(parsed.value)
  return decoded.ok ? decoded.value : undefined
}

/**
 * Checks a parsed message.
 *
 * @throws {TuttiError} BAD_REQUEST with its problems.
 */
export function decodeMessage(value: unknown): ClientMessage {
  const decoded = decodeClientMessage(value)
  if (decoded.ok) return decoded.value
  throw badRequest('message', decoded.problems)
}

function readHead(value: unknown): MessageHead {
  const type = readOwnText(value, 'type')
  const requestId = readOwnText(value, 'requestId')
  return {
    ...(type === undefined ? {} : { type }),
    ...(requestId === undefined || requestId.length > MAX_REQUEST_ID ? {} : { requestId }),
  }
}

/** Returns the text in an own field of a value; undefined if it is not a text. */
export function readOwnText(value: unknown, key: string): string | undefined {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined
  const entry: unknown = Reflect.get(value, key)
  return typeof entry === 'string' ? entry : undefined
}

function toBytes(data: RawData): Uint8Array {
  if (Array.isArray(data)) return Buffer.concat(data)
  return data instanceof ArrayBuffer ? new Uint8Array(data) : data
}
