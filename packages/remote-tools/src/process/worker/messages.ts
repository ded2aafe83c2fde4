/** The lines between a tool and its workers: JSON objects, one a line, calls and answers matched by id. */
import { isJsonObject } from '@tutti/core'

import { parsed, readAnswerObject, type ProcessAnswerOptions } from '../read-answer.ts'

import type { ToolContext, ToolResult } from '@tutti/core'

/** A call as a worker reads it. */
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

/** The line of a call. */
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

/** The line that tells a worker that nobody waits for an answer any more. */
export function encodeCancel(id: string): string {
  return encode({ id, cancel: true })
}

/** What a line of a worker says; undefined is nothing of the protocol. */
export type WorkerMessage =
  | { readonly type: 'ready' }
  | { readonly type: 'answer'; readonly id: string; readonly result: ToolResult }

/** Reads a line of a worker. An id may come back as a number. */
export function decodeWorkerMessage(
  line: string,
  options: ProcessAnswerOptions,
): WorkerMessage | undefined {
  const message = parsed(line)
  if (!isJsonObject(message)) return undefined
  const { id, ...answer } = message
  if (typeof id === 'string' || typeof id === 'number') {
    const text = JSON.stringify(answer)
    return {
      type: 'answer',
      id: String(id),
      result: readAnswerObject(answer, { ...options, text }),
    }
  }
  return answer['ready'] === true ? { type: 'ready' } : undefined
}

/** One line: some readers, Node's own among them, also take U+2028 and U+2029 for the end of one. */
function encode(message: object): string {
  const text = JSON.stringify(message)
  return `${text.replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029')}\n`
}
