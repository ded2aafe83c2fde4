/** Encodes and decodes the lines between a tool and its workers: one JSON object per line, matched by id. */
import { formatExactJson, isJsonObject } from '@tutti/core/internal'

import { parseAnswerJson, readAnswerObject, type ProcessAnswerOptions } from '../read-answer.ts'

import type { ToolContext, ToolResult } from '@tutti/core'

/** A call, as sent to a worker. */
export interface CallMessage {
  /** Unique among the calls of this worker. */
  readonly id: string
  readonly input: unknown
  readonly idempotencyKey: string
  readonly runId?: string
  /** W3C trace context of the call. */
  readonly traceparent?: string
  readonly tracestate?: string
}

/** Returns the line that sends a call. */
export function encodeCall(
  id: string,
  input: unknown,
  context: Pick<ToolContext, 'idempotencyKey' | 'runId'> &
    Partial<Pick<ToolContext, 'traceparent' | 'tracestate'>>,
): string {
  const { idempotencyKey, runId, traceparent, tracestate } = context
  const message: CallMessage = {
    id,
    input,
    idempotencyKey,
    ...(runId === undefined ? {} : { runId }),
    ...(traceparent === undefined ? {} : { traceparent }),
    ...(tracestate === undefined ? {} : { tracestate }),
  }
  return encode(message)
}

/** Returns the line that cancels a call. */
export function encodeCancel(id: string): string {
  return encode({ id, cancel: true })
}

export type WorkerMessage =
  | { readonly type: 'ready' }
  | { readonly type: 'answer'; readonly id: string; readonly result: ToolResult }

/** Parses a line of a worker; returns undefined if it is not a message. An id may be a number. */
export function decodeWorkerMessage(
  line: string,
  options: ProcessAnswerOptions,
): WorkerMessage | undefined {
  const message = parseAnswerJson(line)
  if (!isJsonObject(message)) return undefined
  const { id, ...answer } = message
  if (typeof id === 'string' || typeof id === 'number') {
    const text = formatExactJson(answer) ?? ''
    return {
      type: 'answer',
      id: String(id),
      result: readAnswerObject(answer, { ...options, text }),
    }
  }
  return answer['ready'] === true ? { type: 'ready' } : undefined
}

/** Encodes one line. U+2028 and U+2029 are escaped, because some readers, such as Node's, treat them as line breaks. */
function encode(message: object): string {
  const text = formatExactJson(message) ?? ''
  return `${text.replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029')}\n`
}
