/** Pure: decodes the data of a frame as an event of a run. */
import { decode, decodeLoggedRunEvent, type LoggedRunEvent } from '@tutti/protocol'
import { EventPosition, RUN_EVENT_TYPES, type Decoded } from '@tutti/protocol/internal'

import { badResponseError, parseJson } from '../http/read-answer.ts'

/** An event, or the position of an event whose type this version of the client does not know. */
export type DecodedEvent =
  | { readonly known: true; readonly event: LoggedRunEvent }
  | { readonly known: false; readonly event: EventPosition }

/**
 * Decodes the data of a frame.
 *
 * A newer server may send event types that this client does not know. They cannot be validated or typed, so only their
 * position is returned.
 *
 * @throws {TuttiClientError} BAD_RESPONSE for anything that is not an event of this run.
 */
export function decodeEvent(data: string, runId: string): DecodedEvent {
  const value = parseJson(describeEvents(runId), { text: data })
  return hasUnknownType(value)
    ? { known: false, event: requireRun(runId, decode(EventPosition, value)) }
    : { known: true, event: requireRun(runId, decodeLoggedRunEvent(value)) }
}

const KNOWN_TYPES: ReadonlySet<string> = new Set(RUN_EVENT_TYPES)

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
