/**
 * `fetch` for tests. It checks every response against the documents of the API, and fails for a response that deviates.
 */
import { EXTENSIONS } from '../../../tooling/test-kit/compat.ts'
import { buildAsyncApiDocument } from '../src/documents/async-api-document.ts'
import { eventMisses, findMisses, type Surface } from './answers-rules.ts'
import { schemaCheck } from './answers-schemas.ts'

export { findMisses, type Answer, type Surface } from './answers-rules.ts'

/** Facts about the server under test. */
export interface CheckedFetchOptions {
  /** Surface of the server. @default 'all' */
  readonly surface?: Surface
}

/** Maximum number of deviations in an error. */
const SHOWN = 10

/** Error for a response, stream or message that deviates from the documents. */
export class AnswerMiss extends Error {
  override readonly name = 'AnswerMiss'

  constructor(misses: readonly string[]) {
    const more = misses.length > SHOWN ? [`and ${misses.length - SHOWN} more`] : []
    const lines = [...misses.slice(0, SHOWN), ...more]
    super(`Not what the documents of the API say:\n${lines.join('\n')}`)
  }
}

/**
 * Returns a checked response. The events of a stream are checked while they are read.
 *
 * @throws {AnswerMiss} when the response deviates from the OpenAPI document.
 */
export async function checkedFetch(
  url: string | URL,
  init: RequestInit = {},
  { surface = 'all' }: CheckedFetchOptions = {},
): Promise<Response> {
  const response = await fetch(url, init)
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true
  const { pathname } = new URL(url)
  const misses = findMisses(
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

/** Passes on a stream of events; fails at the first invalid frame. */
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

/** Returns the problems of one frame of a stream: a comment, or consistent `id`, `event` and `data`. */
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

const document = buildAsyncApiDocument(EXTENSIONS)
const { messages } = document.components
const checkMessage = schemaCheck('asyncapi', document)

/** Returns the problems of a message from the server; empty when it is documented. */
export function messageMisses(message: unknown): readonly string[] {
  const type = (message as { readonly type?: unknown } | null)?.type
  const listed = typeof type === 'string' ? messages[type] : undefined
  if (listed === undefined) return [`no message has the type ${JSON.stringify(type)}`]
  return checkMessage(listed.payload, message).map((miss) => `message ${String(type)}: ${miss}`)
}
