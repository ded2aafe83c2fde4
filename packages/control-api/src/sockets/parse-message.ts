/**
 * Reads a client message in two steps, so that the scope of its sender is checked in between. Describing the problems of
 * an invalid message is expensive and happens only for callers that may send it.
 */
import { decodeClientMessage, type ClientMessage } from '@tutti/protocol'
import { badRequest, parseJsonBytes } from '@tutti/gateway/internal'

import type { TuttiError } from '@tutti/core'
import type { RawData } from 'ws'

/** Parsed JSON of a possible message, or the error if it is not JSON. */
export type ParsedMessage =
  | {
      readonly ok: true
      readonly value: unknown
      readonly head: MessageHead
      /** Whether the message is short enough to decode it for any caller. */
      readonly isShort: boolean
    }
  | { readonly ok: false; readonly error: TuttiError; readonly head: MessageHead }

/** Type and request id of a message, if present. */
export interface MessageHead {
  readonly type?: string
  readonly requestId?: string
}

/** Maximum length of a request id that is repeated in a reply; the schema has the same limit. */
const MAX_REQUEST_ID = 200

/** Maximum size of a short message, in bytes. */
const SHORT = 4_096

/** Parses JSON and reads its type and request id. Never throws. */
export function parseMessage(data: RawData): ParsedMessage {
  const bytes = toBytes(data)
  const parsed = parseJsonBytes(bytes)
  if (!parsed.ok) {
    const error = badRequest('message', [parsed.problem])
    return { ok: false, error, head: findHead(bytes.subarray(0, SHORT)) }
  }
  const { value } = parsed
  return { ok: true, value, head: readHead(value), isShort: bytes.length <= SHORT }
}

/** Returns a message whose sender lacks the scope, to choose the form of the refusal; undefined if long or invalid. */
export function decodeRefusedMessage(parsed: ParsedMessage): ClientMessage | undefined {
  if (!parsed.ok || !parsed.isShort) return undefined
  const decoded = decodeClientMessage(parsed.value)
  return decoded.ok ? decoded.value : undefined
}

/**
 * Validates a parsed message.
 *
 * @throws {TuttiError} BAD_REQUEST with its problems.
 */
export function decodeMessage(value: unknown): ClientMessage {
  const decoded = decodeClientMessage(value)
  if (decoded.ok) return decoded.value
  throw badRequest('message', decoded.problems)
}

/**
 * Finds type and request id at the start of a message that is not parsed because it is too large or not JSON, so that the
 * reply reaches the caller that waits for it.
 */
function findHead(start: Uint8Array): MessageHead {
  const text = new TextDecoder().decode(start)
  return readHead({
    type: /"type"\s*:\s*"(\w{1,40})"/.exec(text)?.[1],
    requestId: /"requestId"\s*:\s*"([^"\\]{1,200})"/.exec(text)?.[1],
  })
}

function readHead(value: unknown): MessageHead {
  const type = readOwnText(value, 'type')
  const requestId = readOwnText(value, 'requestId')
  return {
    ...(type === undefined ? {} : { type }),
    ...(requestId === undefined || requestId.length > MAX_REQUEST_ID ? {} : { requestId }),
  }
}

/** Returns the string in an own field of a value; undefined if there is none. */
export function readOwnText(value: unknown, key: string): string | undefined {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined
  const entry: unknown = Reflect.get(value, key)
  return typeof entry === 'string' ? entry : undefined
}

/** Returns the size of a received message in bytes. */
export function messageSize(data: RawData): number {
  if (Array.isArray(data)) return data.reduce((size, { length }) => size + length, 0)
  return data.byteLength
}

function toBytes(data: RawData): Uint8Array {
  if (Array.isArray(data)) return Buffer.concat(data)
  return data instanceof ArrayBuffer ? new Uint8Array(data) : data
}
