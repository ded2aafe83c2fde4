/** Lets the SDK read only the messages that `IncomingMessages` has read from a response. */
import { EventStreamMessages } from './event-messages.ts'
import { failedAnswer, preview } from './failed-answer.ts'

import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/client'
import type { IncomingMessages } from './incoming-messages.ts'

/** The request of a response, and its reader. */
export interface ResponseContext {
  readonly incoming: IncomingMessages
  /** The request whose answer the response must contain; undefined for a stream that requests share. */
  readonly only: RequestId | undefined
  /** Whether the request fails when a stream ends without its answer and cannot be resumed. */
  readonly endsWithStream: boolean
}

/** Statuses of a server that has accepted messages without an answer. */
const ACCEPTED: ReadonlySet<number> = new Set([202, 204])

/** Returns the response with the messages that were read from it. */
export async function readResponse(
  response: Response,
  context: ResponseContext,
): Promise<Response> {
  const type = response.headers.get('content-type') ?? ''
  if (/^\s*text\/event-stream\b/i.test(type)) return readEvents(response, context)
  const { only } = context
  if (only === undefined || !response.ok) return response
  const isAccepted = ACCEPTED.has(response.status)
  if (!isAccepted && !/^\s*application\/json\b/i.test(type)) return response
  const text = isAccepted ? '' : await response.text()
  const messages = context.incoming.read(text, only)
  const missing = context.incoming.isOpen(only)
    ? context.incoming.fail(only, explainMissing(response, text))
    : []
  const [first, ...more] = [...messages, ...missing].map((message) => toJson(message))
  const body = more.length === 0 ? (first ?? '') : `[${[first, ...more].join()}]`
  const headers = new Headers(response.headers)
  headers.set('content-type', 'application/json')
  return copyResponse(response, body, { status: 200, headers })
}

function explainMissing({ status }: Response, text: string): string {
  return `is missing: HTTP ${status}${text.trim() === '' ? ' without a body' : `, ${preview(text)}`}`
}

function readEvents(response: Response, context: ResponseContext): Response {
  if (response.body === null) return response
  const { incoming, only, endsWithStream } = context
  const events = new EventStreamMessages((data) => incoming.read(data, only).map(toJson))
  const encoder = new TextEncoder()
  const body = response.body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(piece, controller) {
        const text = events.add(piece)
        if (text !== '') controller.enqueue(encoder.encode(text))
      },
      flush(controller) {
        if (only === undefined || !endsWithStream || events.hasIds || !incoming.isOpen(only)) return
        const [failed] = incoming.fail(only, 'is missing: the stream has ended')
        if (failed !== undefined) {
          controller.enqueue(encoder.encode(`\n\ndata: ${toJson(failed)}\n\n`))
        }
      },
    }),
  )
  const { status, headers } = response
  return copyResponse(response, body, { status, headers })
}

function copyResponse(
  { statusText, url }: Response,
  body: BodyInit,
  { status, headers }: { readonly status: number; readonly headers: Headers },
): Response {
  // Only `fetch` itself can give a response its URL.
  return Object.defineProperty(new Response(body, { status, statusText, headers }), 'url', {
    value: url,
  })
}

function toJson(message: JSONRPCMessage): string {
  try {
    return JSON.stringify(message)
  } catch {
    const id = 'id' in message && message.id !== undefined ? message.id : 0
    return JSON.stringify(failedAnswer(id, 'the answer is nested too deeply'))
  }
}
