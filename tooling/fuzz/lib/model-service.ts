/**
 * A generated model service: one answer as a stream, in one of the forms that services send. The first requests get the
 * generated stream, and a request with the result of a tool gets a plain answer.
 */
import { listenLocally, type Listening } from '../../net/listen.ts'

import type { ServerResponse } from 'node:http'

/** APIs of model services. */
export type Wire = 'completions' | 'anthropic'

/** A call of the tool `echo` in an answer. */
export interface PlannedCall {
  readonly input: Readonly<Record<string, unknown>>
  /** Length of each fragment of the arguments, in characters. */
  readonly fragment: number
}

/** End of a stream. */
export type Ending = 'whole' | 'reason' | 'done' | 'none' | 'error' | 'drop' | 'garbage'

/** A generated answer. */
export interface AnswerPlan {
  readonly wire: Wire
  readonly texts: readonly string[]
  readonly calls: readonly PlannedCall[]
  /** Usage object of the last event; any JSON. */
  readonly usage: unknown
  readonly ending: Ending
  /** Finish reason, for the endings that have one. */
  readonly reason: string
  /** Error event, for the ending `error`. */
  readonly error: unknown
  /** Events of any JSON and their positions. */
  readonly extras: readonly (readonly [at: number, event: unknown])[]
  /** Number of events that are sent before the stream is cut. */
  readonly cutAfter: number | undefined
  /** Deviations from the documented form. */
  readonly style: AnswerStyle
  readonly bytesPerWrite: number
}

/** Deviations of a service. */
export interface AnswerStyle {
  readonly hasRole: boolean
  readonly hasIndex: boolean
  /** Whether each fragment of a call has the name. */
  readonly repeatsName: boolean
  /** Whether each fragment of a call has another id. */
  readonly changesId: boolean
  /** Whether arguments are sent as one object. */
  readonly hasObjects: boolean
  readonly hasListContent: boolean
  readonly isReversed: boolean
  readonly lineEnd: '\n' | '\r\n'
}

/** A stream, and what it contains. */
export interface PlannedStream {
  readonly events: readonly string[]
  /** Whether the stream has a whole answer: an end, or complete calls only. */
  readonly isWhole: boolean
  /** Text of the sent events. */
  readonly text: string
  /** Inputs of the calls whose fragments were all sent. */
  readonly inputs: readonly unknown[]
}

interface Event {
  readonly text: string
  readonly adds?: string
  readonly begins?: number
  readonly completes?: number
  readonly ends?: boolean
  readonly breaks?: boolean
}

/** Returns the stream of `plan`. */
export function planStream(plan: AnswerPlan): PlannedStream {
  const all = [...contentEvents(plan), ...endEvents(plan)]
  for (const [at, value] of plan.extras) {
    all.splice(at % (all.length + 1), 0, { text: dataOf(value, plan.style) })
  }
  const sent = all.slice(0, plan.cutAfter)
  const begun = new Set(sent.flatMap(({ begins }) => (begins === undefined ? [] : [begins])))
  const complete = sent.flatMap(({ completes }) => (completes === undefined ? [] : [completes]))
  const isBroken = sent.some(({ breaks }) => breaks === true)
  const hasEnd = sent.some(({ ends }) => ends === true)
  const hasCallsOnly = begun.size > 0 && complete.length === begun.size
  return {
    events: sent.map(({ text }) => text),
    isWhole: !isBroken && (hasEnd || hasCallsOnly),
    text: sent.map(({ adds = '' }) => adds).join(''),
    inputs: complete.map((index) => plan.calls[index]?.input),
  }
}

function contentEvents(plan: AnswerPlan): readonly Event[] {
  return plan.wire === 'completions'
    ? [...plan.texts.map((text) => textChunk(text, plan)), ...callChunks(plan)]
    : anthropicContent(plan)
}

function endEvents(plan: AnswerPlan): readonly Event[] {
  const { ending, error, style } = plan
  switch (ending) {
    case 'none':
    case 'drop':
      return []
    case 'error':
      return [{ text: dataOf(error, style), breaks: true }]
    case 'garbage':
      return [{ text: 'data: upstream connect error\n\n', breaks: true }]
    case 'whole':
      return [...reasonEvents(plan), doneEvent(plan)]
    case 'reason':
      return reasonEvents(plan)
    case 'done':
      return [doneEvent(plan)]
  }
}

function reasonEvents({ wire, reason, usage, style }: AnswerPlan): readonly Event[] {
  const event =
    wire === 'completions'
      ? { choices: [{ index: 0, delta: {}, finish_reason: reason }], usage }
      : { type: 'message_delta', delta: { stop_reason: reason }, usage }
  return [{ text: dataOf(event, style), ends: reason !== '' }]
}

function doneEvent({ wire, style }: AnswerPlan): Event {
  return {
    text: wire === 'completions' ? 'data: [DONE]\n\n' : dataOf({ type: 'message_stop' }, style),
    ends: true,
  }
}

function chunkOf(delta: object, { style }: AnswerPlan): string {
  const role = style.hasRole ? { role: 'assistant' } : {}
  return dataOf({ id: 'c', choices: [{ index: 0, delta: { ...role, ...delta } }] }, style)
}

function textChunk(text: string, plan: AnswerPlan): Event {
  const content = plan.style.hasListContent ? [{ type: 'text', text }] : text
  return { text: chunkOf({ content }, plan), adds: text }
}

function callChunks(plan: AnswerPlan): readonly Event[] {
  const { hasIndex, repeatsName, changesId, hasObjects } = plan.style
  return plan.calls.flatMap(({ input, fragment }, index) => {
    const pieces = hasObjects ? [input] : split(JSON.stringify(input), fragment)
    return pieces.map((piece, at) => {
      const id = changesId ? `call_${index}_${at}` : `call_${index}`
      const call = {
        ...(hasIndex ? { index } : {}),
        ...(at === 0 || changesId ? { id } : {}),
        function: { ...(at === 0 || repeatsName ? { name: 'echo' } : {}), arguments: piece },
      }
      return callEvent(chunkOf({ tool_calls: [call] }, plan), { index, at, count: pieces.length })
    })
  })
}

function anthropicContent(plan: AnswerPlan): readonly Event[] {
  const { style, texts, calls } = plan
  const start = style.hasRole
    ? [{ text: dataOf({ type: 'message_start', message: { id: 'm' } }, style) }]
    : []
  const spoken = texts.map((text): Event => {
    const delta = { type: 'text_delta', text }
    return { text: dataOf({ type: 'content_block_delta', index: 0, delta }, style), adds: text }
  })
  const called = calls.flatMap(({ input, fragment }, call): readonly Event[] => {
    const index = call + 1
    const block = { type: 'tool_use', id: `toolu_${call}`, name: 'echo', input: {} }
    const pieces = style.hasObjects ? [input] : split(JSON.stringify(input), fragment)
    const begin = dataOf({ type: 'content_block_start', index, content_block: block }, style)
    return [
      { text: begin, begins: call },
      ...pieces.map((piece, at) => {
        const delta = { type: 'input_json_delta', partial_json: piece }
        const text = dataOf({ type: 'content_block_delta', index, delta }, style)
        return callEvent(text, { index: call, at, count: pieces.length })
      }),
    ]
  })
  return [...start, ...spoken, ...called]
}

function callEvent(
  text: string,
  { index, at, count }: { readonly index: number; readonly at: number; readonly count: number },
): Event {
  return { text, begins: index, ...(at === count - 1 ? { completes: index } : {}) }
}

function split(text: string, length: number): readonly string[] {
  const pieces: string[] = []
  for (let start = 0; start < text.length; start += length) {
    pieces.push(text.slice(start, start + length))
  }
  return pieces
}

function dataOf(value: unknown, { isReversed, lineEnd }: AnswerStyle): string {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
  const ordered =
    isReversed && isObject ? Object.fromEntries(Object.entries(value).toReversed()) : value
  return `data: ${JSON.stringify(ordered)}${lineEnd}${lineEnd}`
}

/** The plain answer to a request with the result of a tool. */
const LAST: Readonly<Record<Wire, string>> = {
  completions:
    'data: {"choices":[{"index":0,"delta":{"content":"done"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n',
  anthropic:
    'data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"done"}}\n\n' +
    'data: {"type":"message_delta","delta":{"stop_reason":"end_turn"}}\n\ndata: {"type":"message_stop"}\n\n',
}

/** Starts a service on loopback that answers with `plan`. */
export function startModelService(plan: AnswerPlan): Promise<Listening> {
  const { events } = planStream(plan)
  return listenLocally((request, response) => {
    let body = ''
    request.on('data', (data: Buffer) => (body += data.toString()))
    request.on('end', () => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      const hasResult = /"role":"tool"|"type":"tool_result"/.test(body)
      if (hasResult) response.end(LAST[plan.wire])
      else send(response, Buffer.from(events.join('')), plan)
    })
  })
}

function send(
  response: ServerResponse,
  bytes: Buffer,
  { ending, bytesPerWrite }: AnswerPlan,
): void {
  for (let start = 0; start < bytes.length; start += bytesPerWrite) {
    response.write(bytes.subarray(start, start + bytesPerWrite))
  }
  if (ending === 'drop') response.destroy()
  else response.end()
}
