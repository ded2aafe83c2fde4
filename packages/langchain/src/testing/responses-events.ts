/**
 * The streaming events of OpenAI's Responses API.
 *
 * @see https://platform.openai.com/docs/api-reference/responses-streaming
 */
import { argumentPieces, readUsage, splitWords } from './pieces.ts'

import type { StubReply, WireContext } from './provider-stub.ts'

/** The events of an item: up to its last delta, and its end. */
interface ItemEvents {
  readonly item: object
  readonly open: string
  readonly close: string
}

/** Returns the events of an answer: up to the end of its text, and the rest. */
export function responsesEvents(
  reply: StubReply,
  { request, call }: WireContext,
): { readonly head: string; readonly tail: string } {
  const base = {
    id: `resp_${call}`,
    object: 'response',
    created_at: 1_767_225_600,
    model: request.body['model'],
    error: null,
    incomplete_details: null,
    metadata: {},
  }
  const spoken = [
    ...reasoningItem(reply, call),
    ...messageItem(reply, call),
    ...refusalItem(reply, call),
  ]
  const items = [...spoken, ...callItems(reply, call, spoken.length)]
  const last = spoken.at(-1)
  const output = items.map(({ item }) => item)
  const head = [
    event({ type: 'response.created', response: { ...base, status: 'in_progress', output: [] } }),
    ...spoken.map((each) => (each === last ? each.open : each.open + each.close)),
  ]
  const usage = wireUsage(reply, request.body)
  const tail = [
    last?.close ?? '',
    ...items.slice(spoken.length).map(({ open, close }) => open + close),
    lastEvent(reply, { ...base, output, usage }),
  ]
  return { head: head.join(''), tail: tail.join('') }
}

/** An answer that is cut off or blocked is incomplete; a refusal is complete. */
function lastEvent({ finishReason }: StubReply, response: object): string {
  const reasons = { length: 'max_output_tokens', content_filter: 'content_filter' }
  if (finishReason !== 'length' && finishReason !== 'content_filter') {
    return event({ type: 'response.completed', response: { ...response, status: 'completed' } })
  }
  const incomplete = { status: 'incomplete', incomplete_details: { reason: reasons[finishReason] } }
  return event({ type: 'response.incomplete', response: { ...response, ...incomplete } })
}

/** Returns the error event in the middle of a stream. */
export function responsesError(): string {
  return event({ type: 'error', code: 'server_error', message: 'The server had an error' })
}

function reasoningItem({ reasoning = '' }: StubReply, call: number): readonly ItemEvents[] {
  if (reasoning === '') return []
  const id = `rs_${call}`
  const summary = [{ type: 'summary_text', text: reasoning }]
  const started = { id, type: 'reasoning', summary: [] }
  const at = { item_id: id, output_index: 0, summary_index: 0 }
  const part = { type: 'summary_text', text: '' }
  const type = 'response.reasoning_summary_text.delta'
  return [
    itemEvents({ id, type: 'reasoning', summary }, started, {
      index: 0,
      deltas: [
        event({ type: 'response.reasoning_summary_part.added', ...at, part }),
        ...splitWords(reasoning).map((delta) => event({ type, ...at, delta })),
      ],
    }),
  ]
}

function messageItem(
  { text = '', reasoning = '' }: StubReply,
  call: number,
): readonly ItemEvents[] {
  if (text === '') return []
  const base = { id: `msg_${call}`, type: 'message', role: 'assistant' }
  const content = [{ type: 'output_text', text, annotations: [] }]
  const index = reasoning === '' ? 0 : 1
  const at = { item_id: base.id, output_index: index, content_index: 0 }
  return [
    itemEvents(
      { ...base, status: 'completed', content },
      { ...base, status: 'in_progress', content: [] },
      {
        index,
        deltas: splitWords(text).map((delta) =>
          event({ type: 'response.output_text.delta', ...at, delta }),
        ),
      },
    ),
  ]
}

function refusalItem({ refusal = '' }: StubReply, call: number): readonly ItemEvents[] {
  if (refusal === '') return []
  const base = { id: `msg_${call}_refusal`, type: 'message', role: 'assistant' }
  const at = { item_id: base.id, output_index: 0, content_index: 0 }
  return [
    itemEvents(
      { ...base, status: 'completed', content: [{ type: 'refusal', refusal }] },
      { ...base, status: 'in_progress', content: [] },
      {
        index: 0,
        deltas: [
          ...splitWords(refusal).map((delta) =>
            event({ type: 'response.refusal.delta', ...at, delta }),
          ),
          event({ type: 'response.refusal.done', ...at, refusal }),
        ],
      },
    ),
  ]
}

function callItems(
  { toolCalls = [], reasoning = '' }: StubReply,
  call: number,
  start: number,
): readonly ItemEvents[] {
  return toolCalls.map((toolCall, position) => {
    const base = {
      id: `fc_${call}${reasoning === '' ? '' : 'r'}_${position}`,
      type: 'function_call',
      call_id: toolCall.id ?? `call_${call}_${position}`,
      name: toolCall.name,
    }
    const pieces = argumentPieces(toolCall)
    const index = start + position
    const at = { item_id: base.id, output_index: index }
    const type = 'response.function_call_arguments.delta'
    return itemEvents(
      { ...base, status: 'completed', arguments: pieces.join('') },
      { ...base, status: 'in_progress', arguments: '' },
      { index, deltas: pieces.map((delta) => event({ type, ...at, delta })) },
    )
  })
}

function itemEvents(
  item: object,
  started: object,
  { index, deltas }: { readonly index: number; readonly deltas: readonly string[] },
): ItemEvents {
  const open = [
    event({ type: 'response.output_item.added', output_index: index, item: started }),
    ...deltas,
  ]
  const close = event({ type: 'response.output_item.done', output_index: index, item })
  return { item, open: open.join(''), close }
}

function wireUsage(reply: StubReply, body: object): object {
  const usage = readUsage(reply, body)
  const { inputTokens, outputTokens, cachedInputTokens = 0, reasoningTokens = 0 } = usage
  return {
    input_tokens: inputTokens,
    input_tokens_details: { cached_tokens: cachedInputTokens },
    output_tokens: outputTokens,
    output_tokens_details: { reasoning_tokens: reasoningTokens },
    total_tokens: inputTokens + outputTokens,
  }
}

function event(value: { readonly type: string; readonly [field: string]: unknown }): string {
  return `event: ${value.type}\ndata: ${JSON.stringify(value)}\n\n`
}
