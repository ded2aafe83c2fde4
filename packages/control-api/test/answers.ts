/**
 * `fetch` for tests: every answer is checked against the documents of the API, and one that is not what
 * they say fails the request that got it.
 */
import { asyncApiDocument } from '../src/documents/async-api-document.ts'
import { eventMisses, missesOf, type Surface } from './answers-rules.ts'
import { schemaCheck } from './answers-schemas.ts'

export { missesOf, type Answer, type Surface } from './answers-rules.ts'

/** What is known of the server that is asked. */
export interface CheckedFetchOptions {
  /** @default 'all' */
  readonly surface?: Surface
}

/** How many misses an error tells; the rest are mostly the same. */
const SHOWN = 10

/** An answer, a stream or a message is not what the documents say. */
export class AnswerMiss extends Error {
  override readonly name = 'AnswerMiss'

  constructor(misses: readonly string[]) {
    const more = misses.length > SHOWN ? [`and ${misses.length - SHOWN} more`] : []
    const lines = [...misses.slice(0, SHOWN), ...more]
    super(`Not what the documents of the API say:\n${lines.join('\n')}`)
  }
}

/**
 * The answer, checked; the events of a stream are checked as they are read.
 *
 * @throws {AnswerMiss} when it is not what the OpenAPI document says.
 */
export async function checkedFetch(
  url: string | URL,
  init: RequestInit = {},
  { surface = 'all' }: CheckedFetchOptions = {},
): Promise<Response> {
  const response = await fetch(url, init)
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true
  const { pathname } = new URL(url)
  const misses = missesOf(
    {
      method: (init.method ?? 'GET').toUpperCase(),
      path: pathname,
      status: response.status,
      headers: response.headers,
      body: isStream ? undefined : await response.clone().text(),
    },
    surface,
  )
  if (misses.length > 0) throw new AnswerMiss(misses)
  if (!isStream || response.body === null) return response
  const { status, headers } = response
  return new Response(response.body.pipeThrough(checkedFrames()), { status, headers })
}

/** A stream of events, passed on as it is; it fails at the first frame that is not as it should be. */
function checkedFrames(): TransformStream<Uint8Array, Uint8Array> {
  const decoder = new TextDecoder()
  let text = ''
  return new TransformStream({
    transform(chunk, controller) {
      text += decoder.decode(chunk, { stream: true })
      const frames = text.split('\n\n')
      text = frames.pop() ?? ''
      const misses = frames.flatMap(frameMisses)
      if (misses.length > 0) controller.error(new AnswerMiss(misses))
      else controller.enqueue(chunk)
    },
  })
}

/** What is wrong with one frame of a stream: a comment, or `id`, `event` and `data` that agree. */
export function frameMisses(frame: string): readonly string[] {
  if (/^:[^\n]*$/.test(frame)) return []
  const [, id, type, data] = /^id: (.+)\nevent: (.+)\ndata: (.+)$/.exec(frame) ?? []
  if (data === undefined) return [`a frame is not id, event and data: ${frame}`]
  const event = JSON.parse(data) as { readonly id?: unknown; readonly type?: unknown }
  return [
    ...(event.id === id ? [] : [`the frame has the id ${id}, its event ${String(event.id)}`]),
    ...(event.type === type ? [] : [`the frame is ${type}, its event ${String(event.type)}`]),
    ...eventMisses(event).map((miss) => `event ${id}: ${miss}`),
  ]
}

const messages = asyncApiDocument().components.messages
const checkMessage = schemaCheck('asyncapi', asyncApiDocument())

/** What is wrong with a message that the server sent over a WebSocket; nothing when it is as listed. */
export function messageMisses(message: unknown): readonly string[] {
  const type = (message as { readonly type?: unknown } | null)?.type
  const listed = typeof type === 'string' ? messages[type] : undefined
  if (listed === undefined) return [`no message has the type ${JSON.stringify(type)}`]
  return checkMessage(listed.payload, message).map((miss) => `message ${String(type)}: ${miss}`)
}
