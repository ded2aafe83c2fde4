/** Reads a message of a client: as JSON, and fitting its schema. */
import { decodeClientMessage, type ClientMessage } from '@tutti/protocol'

import { badRequest } from '../http/api-error.ts'
import { parseJson } from '../http/parse-json.ts'

import type { TuttiError } from '@tutti/core'
import type { RawData } from 'ws'

/** A message, or what is wrong with it and what can be told of it. */
export type ParsedMessage =
  | { readonly ok: true; readonly message: ClientMessage }
  | { readonly ok: false; readonly error: TuttiError; readonly head: MessageHead }

/** What says which message it is, as far as it is there. */
export interface MessageHead {
  readonly type?: string
  readonly requestId?: string
}

/** Reads a message; one that does not fit is BAD_REQUEST with every problem. Never throws. */
export function parseMessage(data: RawData): ParsedMessage {
  const parsed = parseJson(bytesOf(data))
  if (!parsed.ok) return { ok: false, error: badRequest('Message', [parsed.problem]), head: {} }
  const decoded = decodeClientMessage(parsed.value)
  if (decoded.ok) return { ok: true, message: decoded.value }
  const error = badRequest('Message', decoded.problems)
  return { ok: false, error, head: headOf(parsed.value) }
}

function headOf(value: unknown): MessageHead {
  if (typeof value !== 'object' || value === null) return {}
  const type = ownText(value, 'type')
  const requestId = ownText(value, 'requestId')
  return {
    ...(type === undefined ? {} : { type }),
    ...(requestId === undefined ? {} : { requestId }),
  }
}

function ownText(value: object, key: string): string | undefined {
  const entry = Object.entries(value).find(([name]) => name === key)?.[1]
  return typeof entry === 'string' ? entry : undefined
}

function bytesOf(data: RawData): Uint8Array {
  if (Array.isArray(data)) return Buffer.concat(data)
  return data instanceof ArrayBuffer ? new Uint8Array(data) : data
}
