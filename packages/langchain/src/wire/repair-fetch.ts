/**
 * Brings the answers of services into the form of their provider, before the provider's client reads them.
 *
 *   bytes ─▶ events ─▶ error? ─▶ reader of the wire ─▶ events in the provider's form ─▶ client ─▶ LangChain
 *
 * The request's path names the wire. Answers with an error status, and paths of other APIs, are not changed.
 *
 * LC-W2 What a service sends after the end of an answer is ignored. A connection that it then keeps open is closed; one
 *    that ends in time is reused, because Node opens a new connection after it has aborted one.
 * LC-W3 An answer that is one JSON body is read as the answer to a request without streaming.
 */
import { TuttiError } from '@tutti/core'
import { isJsonObject } from '@tutti/core/internal'

import { MessagesReader } from './anthropic-messages.ts'
import { CompletionsReader } from './chat-completions.ts'
import { parseOrUndefined, type Json } from '../json.ts'
import { readServerEvents, type ServerEvent } from './read-server-events.ts'
import { ResponsesReader } from './responses.ts'
import { createLineError, findError } from './stream-error.ts'

import type { WireReader } from './wire-reader.ts'

/** A function like `fetch`. */
export type ProviderFetch = typeof globalThis.fetch

/** Maximum length of response text in a message. */
const MAX_TEXT_LENGTH = 500

/** Maximum size of an answer that is not a stream, in bytes. */
const MAX_BODY_BYTES = 32_000_000

/** Time in which a service ends its connection after its answer, in milliseconds. */
const MAX_LINGER_MS = 500

/** Number of characters that show whether an answer is a stream of events. */
const SNIFF_LENGTH = 8

/** End of a path → reader of its answers. */
const WIRES: readonly (readonly [path: RegExp, create: () => WireReader])[] = [
  [/\/chat\/completions$/, () => new CompletionsReader()],
  [/\/messages$/, () => new MessagesReader()],
  [/\/responses$/, () => new ResponsesReader()],
]

/** Returns a `fetch` that repairs answers; `label` is the model, such as `openai:gpt-5`. */
export function createRepairingFetch(
  label: string,
  inner: ProviderFetch = globalThis.fetch,
): ProviderFetch {
  return async (input, init) => {
    const response = await inner(input, init)
    const create = findWire(input)
    if (!response.ok || create === undefined || response.body === null) return response
    const type = response.headers.get('content-type') ?? ''
    const answer = { label, status: response.status, type, reader: create() }
    if (asksForStream(init?.body)) {
      const body = toBytes(repairStream(response.body, answer))
      return new Response(body, { status: response.status, headers: { 'content-type': EVENTS } })
    }
    const body = await repairBody(response.body, answer)
    return new Response(body, { status: response.status, headers: copyHeaders(response.headers) })
  }
}

const EVENTS = 'text/event-stream; charset=utf-8'

/** An answer that is read. */
interface Answer {
  readonly label: string
  readonly status: number
  /** Content type; empty if there is none. */
  readonly type: string
  readonly reader: WireReader
}

function findWire(input: Parameters<ProviderFetch>[0]): (() => WireReader) | undefined {
  const address = input instanceof Request ? input.url : String(input)
  const path = URL.parse(address)?.pathname ?? ''
  return WIRES.find(([pattern]) => pattern.test(path))?.[1]
}

function asksForStream(body: unknown): boolean {
  return typeof body === 'string' && /"stream"\s*:\s*true/.test(body)
}

/** The body of a repaired answer has another length, and is not compressed. */
function copyHeaders(headers: Headers): Headers {
  const copy = new Headers(headers)
  copy.delete('content-length')
  copy.delete('content-encoding')
  return copy
}

async function* repairStream(
  bytes: AsyncIterable<Uint8Array>,
  answer: Answer,
): AsyncGenerator<string> {
  const { reader } = answer
  const chunks = peek(bytes)
  const start = await chunks.start()
  if (!isEventStream(start, answer)) {
    const text = await readText(chunks.all(), answer)
    const body = parseOrUndefined(text)
    yield* (readWhole(body, answer) ?? rejectText(text, answer)).map(format)
    yield DONE
    return
  }
  const events = readServerEvents(chunks.all())
  let isDone = false
  let isLeft = false
  try {
    while (!isDone && !reader.isOver) {
      const { done, value: event } = await events.next()
      if (done === true) break
      isDone = yield* repairEvent(event, reader)
    }
    yield* reader.end(isDone).map(format)
    isLeft = !(await endsInTime(events))
    yield DONE
  } finally {
    const closing = events.return(undefined)
    // A read that is still pending ends with the request, which the caller of `fetch` aborts.
    if (isLeft) closing.catch(() => undefined)
    else await closing
  }
}

/** Repairs one event; returns whether it was the end of the stream. */
function* repairEvent({ name, data }: ServerEvent, reader: WireReader): Generator<string, boolean> {
  let isDone = false
  for (const value of parseData(data)) {
    if (value === 'done') {
      isDone = true
      continue
    }
    const error = findError(value, name)
    if (error !== undefined) throw error
    // Some services send the type of an event only as its name.
    const isNamed = typeof value['type'] !== 'string' && name !== ''
    yield* reader.read(isNamed ? { ...value, type: name } : value).map(format)
  }
  return isDone
}

/** Reads to the end of the connection; returns false if it stays open. */
async function endsInTime(events: AsyncIterator<ServerEvent>): Promise<boolean> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => {
      resolve(false)
    }, MAX_LINGER_MS)
  })
  const rest = async (): Promise<true> => {
    while ((await events.next()).done !== true) continue
    return true
  }
  // An answer that has ended is whole, also when its connection then breaks.
  const ended = rest().catch(() => true as const)
  try {
    return await Promise.race([ended, late])
  } finally {
    clearTimeout(timer)
  }
}

const DONE = 'data: [DONE]\n\n'

/** Returns the objects in the data of an event. Some proxies send several events without empty lines between. */
function parseData(data: ServerEvent['data']): readonly (Json | 'done')[] {
  const text = data.join('\n').trim()
  if (text === '') return []
  if (text.toUpperCase() === '[DONE]') return ['done']
  const value = parseOrUndefined(text)
  if (isJsonObject(value)) return [value]
  if (data.length > 1) return data.flatMap((line) => parseData([line]))
  if (value === null) return []
  throw createLineError(text)
}

function format(event: Json): string {
  const name = typeof event['type'] === 'string' ? `event: ${event['type']}\n` : ''
  return `${name}data: ${JSON.stringify(event)}\n\n`
}

/** Returns texts as a body; an error of `texts` is the error of the body. */
function toBytes(texts: AsyncGenerator<string>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  return new ReadableStream(
    {
      async pull(controller) {
        const { done, value } = await texts.next()
        if (done === true) controller.close()
        else controller.enqueue(encoder.encode(value))
      },
      async cancel() {
        await texts.return(undefined)
      },
    },
    { highWaterMark: 0 },
  )
}

/** Returns whether a body is a stream of events, which some services send with another content type. */
function isEventStream(start: string, { type }: Answer): boolean {
  const text = start.replace(/^\uFEFF/, '').trimStart()
  if (/^(?::|(?:data|event|id|retry|error):)/.test(text)) return true
  return text === '' || (type.includes('event-stream') && !/^[{[<]/.test(text))
}

interface Peeked {
  /** Returns the first characters. */
  start(): Promise<string>
  /** Returns the whole body, with its start. */
  all(): AsyncGenerator<Uint8Array>
}

function peek(bytes: AsyncIterable<Uint8Array>): Peeked {
  const source = bytes[Symbol.asyncIterator]()
  const read: Uint8Array[] = []
  return {
    async start() {
      const decoder = new TextDecoder()
      let text = ''
      while (text.trimStart().length < SNIFF_LENGTH) {
        const { done, value } = await source.next()
        if (done === true) break
        read.push(value)
        text += decoder.decode(value, { stream: true })
        // An answer that begins with many empty lines is a stream.
        if (text.length > MAX_TEXT_LENGTH && text.trim() === '') break
      }
      return text
    },
    async *all() {
      yield* read
      try {
        for (;;) {
          const { done, value } = await source.next()
          if (done === true) return
          yield value
        }
      } finally {
        await source.return?.()
      }
    },
  }
}

async function readText(chunks: AsyncIterable<Uint8Array>, { label }: Answer): Promise<string> {
  const decoder = new TextDecoder()
  const texts: string[] = []
  let size = 0
  for await (const chunk of chunks) {
    size += chunk.byteLength
    if (size > MAX_BODY_BYTES) {
      throw new TuttiError(
        'MODEL_FAILED',
        `Cannot call ${label}: the answer has more than ${MAX_BODY_BYTES} bytes`,
      )
    }
    texts.push(decoder.decode(chunk, { stream: true }))
  }
  return texts.join('') + decoder.decode()
}

/** Reads an answer that is one JSON body; undefined if it is not an answer. */
function readWhole(body: unknown, { reader }: Answer): readonly Json[] | undefined {
  if (!isJsonObject(body) || findError(body, '') !== undefined) return undefined
  return reader.readWhole(body)
}

/** Repairs the JSON body of an answer to a request without streaming. */
async function repairBody(bytes: AsyncIterable<Uint8Array>, answer: Answer): Promise<string> {
  const text = await readText(bytes, answer)
  const body = parseOrUndefined(text)
  if (!isJsonObject(body)) return rejectText(text, answer)
  const error = findError(body, '')
  if (error !== undefined) throw error
  return JSON.stringify(answer.reader.repairWhole(body))
}

/**
 * Throws an error for a response with status 200 that is not an answer: some servers and proxies report an error as
 * JSON or as a page.
 */
function rejectText(text: string, { label, status }: Answer): never {
  const body = parseOrUndefined(text)
  const error = isJsonObject(body) ? findError(body, '') : undefined
  const words = error?.message ?? toPlainText(text)
  const shown = words.length <= MAX_TEXT_LENGTH ? words : `${words.slice(0, MAX_TEXT_LENGTH)}…`
  const isAnswer = isJsonObject(body) && error === undefined
  const hint = isAnswer
    ? ' (a service that cannot stream needs modelOptions: { disableStreaming: true })'
    : ''
  const { type } = error ?? {}
  throw new TuttiError(
    'MODEL_FAILED',
    `Cannot call ${label}: the answer with status ${status} is not a stream of events: ${shown}${hint}`,
    {
      retryable: error?.retryable ?? !isAnswer,
      details: { status, ...(type === undefined ? {} : { type }) },
    },
  )
}

/** Removes the tags of a page. */
function toPlainText(text: string): string {
  const words = text
    .replaceAll(/<(script|style)[^>]*>[^<]*<\/\1>/gi, ' ')
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim()
  return words === '' ? 'it is empty' : words
}
