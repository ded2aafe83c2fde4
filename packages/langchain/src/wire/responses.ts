/**
 * Brings streams of OpenAI's Responses API into the form of OpenAI. Pure.
 *
 * R1 Text, refusals and arguments that arrive only in an event for the end of an item are sent as deltas.
 * R2 `[DONE]` ends an answer that has text or complete calls, also without `response.completed`.
 *
 * @see https://platform.openai.com/docs/api-reference/responses-streaming
 */
import { includeCache, mergeCounts, readCounts, type TokenCounts } from '../token-counts.ts'
import { isCompleteCall } from '../tool-call-fragments.ts'
import {
  readArguments,
  readField,
  readIndex,
  readObject,
  readObjects,
  readScalar,
  readText,
  type Json,
} from './json.ts'

import type { WireReader } from './wire-reader.ts'

/** A call of a tool in an answer. */
interface OpenCall {
  readonly name: string
  args: string
}

/** Events that end an answer. */
const ENDS: ReadonlySet<unknown> = new Set([
  'response.completed',
  'response.incomplete',
  'response.done',
])

/** Creates a reader for one answer. */
export function createResponsesReader(): WireReader {
  let counts: TokenCounts = {}
  let isOver = false
  let last = 0
  const texts = new Map<string, string>()
  const calls = new Map<number, OpenCall>()

  const addText = (kind: 'output_text' | 'refusal', at: Json, text: string): readonly Json[] => {
    const key = `${kind} ${String(at['output_index'])} ${String(at['content_index'])}`
    texts.set(key, (texts.get(key) ?? '') + text)
    return kind === 'refusal' || text === ''
      ? []
      : [{ ...at, type: 'response.output_text.delta', delta: text }]
  }

  /** Sends a text whose deltas were missing. */
  const endText = (kind: 'output_text' | 'refusal', at: Json, text: string): readonly Json[] => {
    const key = `${kind} ${String(at['output_index'])} ${String(at['content_index'])}`
    if ((texts.get(key) ?? '') !== '' || text === '') return []
    return [
      ...addText(kind, at, text),
      ...(kind === 'refusal' ? [{ ...at, type: 'response.refusal.done', refusal: text }] : []),
    ]
  }

  const startCall = (index: number, item: Json): readonly Json[] => {
    if (calls.has(index)) return []
    const args = readArguments(item['arguments'])
    const name = readText(item['name']) ?? ''
    calls.set(index, { name, args })
    const id = readScalar(item['call_id']) || readScalar(item['id'])
    const fields = { type: 'function_call', name, arguments: args, call_id: id, id: item['id'] }
    return [{ type: 'response.output_item.added', output_index: index, item: fields }]
  }

  const addArguments = (index: number, delta: string): readonly Json[] => {
    const call = calls.get(index)
    if (call === undefined || delta === '') return []
    call.args += delta
    return [{ type: 'response.function_call_arguments.delta', output_index: index, delta }]
  }

  const endItem = (index: number, item: Json): readonly Json[] => {
    if (item['type'] === 'function_call') {
      const started = startCall(index, item)
      return started.length > 0 || calls.get(index)?.args !== ''
        ? started
        : addArguments(index, readArguments(item['arguments']))
    }
    if (item['type'] !== 'message') {
      return [{ type: 'response.output_item.done', output_index: index, item }]
    }
    return readObjects(item['content']).flatMap((part, content) => {
      const at = { output_index: index, content_index: content }
      return part['type'] === 'refusal'
        ? endText('refusal', at, readScalar(part['refusal']))
        : endText('output_text', at, readScalar(part['text']))
    })
  }

  const finish = (response: Json, type: string): Json => {
    const { input, output, total, cacheRead, cacheWrite, reasoning } = includeCache(counts)
    const incomplete = readObject(response['incomplete_details'])
    return {
      type,
      response: {
        ...response,
        status: readText(response['status']) ?? type.slice('response.'.length),
        error: null,
        incomplete_details: incomplete ?? null,
        output: readObjects(response['output']).map(toWireItem),
        usage: {
          input_tokens: input,
          output_tokens: output,
          total_tokens: total,
          input_tokens_details: { cached_tokens: cacheRead, cache_write_tokens: cacheWrite },
          output_tokens_details: { reasoning_tokens: reasoning },
        },
      },
    }
  }

  const hasContent = (): boolean => {
    const all = [...calls.values()]
    return all.length > 0
      ? all.every(({ name, args }) => isCompleteCall({ id: '', name, arguments: args || '{}' }))
      : [...texts.values()].some((text) => text !== '')
  }

  const readEvent = (event: Json): readonly Json[] => {
    const { type } = event
    const index = readIndex(event['output_index']) ?? last
    last = index
    const at = {
      item_id: event['item_id'],
      output_index: index,
      content_index: readIndex(event['content_index']) ?? 0,
    }
    if (ENDS.has(type)) {
      const response = readObject(event['response']) ?? {}
      counts = mergeCounts(counts, readCounts(response['usage']))
      isOver = true
      const missing = readObjects(response['output']).flatMap((item, place) =>
        item['type'] === 'message' || item['type'] === 'function_call' ? endItem(place, item) : [],
      )
      const named = type === 'response.incomplete' || response['status'] === 'incomplete'
      return [...missing, finish(response, named ? 'response.incomplete' : 'response.completed')]
    }
    switch (type) {
      case 'response.output_text.delta':
        return addText('output_text', at, readScalar(event['delta']))
      case 'response.output_text.done':
        return endText('output_text', at, readScalar(event['text']))
      case 'response.refusal.delta':
        return []
      case 'response.refusal.done':
        return endText('refusal', at, readScalar(event['refusal']))
      case 'response.function_call_arguments.delta':
        return addArguments(index, readArguments(event['delta']))
      case 'response.function_call_arguments.done':
        return calls.get(index)?.args === ''
          ? addArguments(index, readArguments(event['arguments']))
          : []
      case 'response.output_item.added': {
        const item = readObject(event['item']) ?? {}
        return item['type'] === 'function_call' ? startCall(index, item) : [{ ...event, item }]
      }
      case 'response.output_item.done':
        return endItem(index, readObject(event['item']) ?? {})
      case 'response.created':
        return [{ type, response: readObject(event['response']) ?? {} }]
      case 'response.reasoning_summary_part.added':
        return readObject(event['part']) === undefined ? [] : [event]
      case 'response.reasoning_summary_text.delta':
        return [{ ...event, delta: readScalar(event['delta']) }]
      case 'response.reasoning_text.delta':
        // Services with open models send the reasoning itself; LangChain reads only summaries.
        return [
          {
            type: 'response.reasoning_summary_text.delta',
            delta: readScalar(event['delta']),
            summary_index: readIndex(event['content_index']) ?? 0,
          },
        ]
      default:
        return []
    }
  }

  return {
    read: readEvent,
    end(isDone) {
      if (isOver || !isDone || !hasContent()) return []
      return [finish({}, 'response.completed')]
    },
    get isOver() {
      return isOver
    },
    readWhole(body) {
      if (!Array.isArray(body['output'])) return undefined
      return readEvent({ type: 'response.done', response: body })
    },
    repairWhole(body) {
      if (!Array.isArray(body['output'])) return body
      counts = mergeCounts(counts, readCounts(body['usage']))
      const { response } = finish(body, 'response.completed')
      return readObject(response) ?? body
    },
  }
}

/** Returns an item of the whole answer with the lists that LangChain expects. */
function toWireItem(item: Json): Json {
  if (item['type'] === 'function_call') {
    return { ...item, arguments: readArguments(item['arguments']) || '{}' }
  }
  if (item['type'] !== 'message') return item
  const content = readObjects(item['content']).map((part) =>
    part['type'] === 'output_text' || part['type'] === 'text'
      ? {
          ...part,
          type: 'output_text',
          text: readScalar(part['text']),
          annotations: readObjects(readField(part, 'annotations')),
        }
      : part,
  )
  return { ...item, content }
}
