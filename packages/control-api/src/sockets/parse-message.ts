/** Reads a message of a client: as JSON, and fitting its schema. */
import { decodeClientMessage, type ClientMessage } from '@tutti/protocol'

import { badRequest } from '../http/api-error.ts'

import type { RawData } from 'ws'

/** @throws {TuttiError} BAD_REQUEST with every problem. */
export function parseMessage(data: RawData): ClientMessage {
  let value: unknown
  try {
    value = JSON.parse(textOf(data))
  } catch {
    throw badRequest('Message', [{ path: '', message: 'must be JSON' }])
  }
  const decoded = decodeClientMessage(value)
  if (decoded.ok) return decoded.value
  throw badRequest('Message', decoded.problems)
}

function textOf(data: RawData): string {
  const bytes = Array.isArray(data) ? Buffer.concat(data) : data
  return new TextDecoder().decode(bytes)
}
