/** Decodes the data of a frame as an event of a run. No I/O. */
import { decode, decodeLoggedRunEvent, type LoggedRunEvent } from '@tutti/protocol'
import {
  EventPosition,
  RUN_EVENT_TYPES,
  type Decoded,
  type TextRestorer,
} from '@tutti/protocol/internal'

import { badResponseError, parseJson } from '../http/read-answer.ts'

/** An event, or the position of an event whose type this version of the client does not know. */
export type DecodedEvent =
  | { readonly known: true; readonly event: LoggedRunEvent }
  | { readonly known: false; readonly event: EventPosition }

/**
 * Decodes the data of a frame. Texts that the server omitted are restored from the earlier frames of the connection.
 *
 * A newer server may send event types that this client does not know. They cannot be validated or typed, so only their
 * position is returned.
 *
 * @throws {TuttiClientError} BAD_RESPONSE for anything that is not an event of this run.
 */
export function decodeEvent(data: string, runId: string, restorer: TextRestorer): DecodedEvent {
  const value = parseJson(describeEvents(runId), { text: data })
  if (hasUnknownType(value)) {
    return { known: false, event: requireRun(runId, decode(EventPosition, value)) }
  }
  const event = requireRun(runId, decodeLoggedRunEvent(value))
  return { known: true, event: restoreEvent(event, restorer) }
}

const KNOWN_TYPES: ReadonlySet<string> = new Set(RUN_EVENT_TYPES)

/**
 * Restores the omitted texts of an event.
 *
 * @throws {TuttiClientError} BAD_RESPONSE when the connection has not sent a text that the event refers to.
 */
export function restoreEvent(event: LoggedRunEvent, restorer: TextRestorer): LoggedRunEvent {
  const restored = restorer.restore(event)
  if (!restored.ok) throw badResponseError(describeEvents(event.runId), restored)
  return restored.value
}

function hasUnknownType(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || !('type' in value)) return false
  return typeof value.type === 'string' && !KNOWN_TYPES.has(value.type)
}

function requireRun<T extends EventPosition>(runId: string, decoded: Decoded<T>): T {
  if (!decoded.ok) throw badResponseError(describeEvents(runId), decoded)
  if (decoded.value.runId === runId) return decoded.value
  const message = `must be "${runId}", got "${decoded.value.runId}"`
  throw badResponseError(describeEvents(runId), { problems: [{ path: '/runId', message }] })
}

function describeEvents(runId: string): string {
  return `the events of run "${runId}"`
}
