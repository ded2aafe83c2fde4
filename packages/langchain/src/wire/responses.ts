/**
 * Brings streams of OpenAI's Responses API into the form of OpenAI. No I/O.
 *
 * LC-RS1 Text, refusals and arguments that arrive only in an event for the end of an item are sent as deltas.
 * LC-RS2 `[DONE]` ends an answer that has text or complete calls, also without `response.completed`.
 * LC-RS3 Arguments are sent as one delta when they end: LangChain parses all arguments again with each piece.
 *
 * @see https://platform.openai.com/docs/api-reference/responses-streaming
 */
import { includeCache, mergeCounts, readCounts, type TokenCounts } from '../token-counts.ts'
import { isCompleteCall } from '../tool-call-fragments.ts'
import {
  readArgumentText,
  readField,
  readIndex,
  readObject,
  readObjects,
  readScalar,
  readNonEmpty,
  type Json,
} from '../json.ts'

import type { WireReader } from './wire-reader.ts'

/** A call of a tool in an answer. */
interface OpenCall {
  readonly name: string
  args: string
  /** Arguments that are not sent yet. */
  unsent: string
}

/** Kinds of text in a message. */
type TextKind = 'output_text' | 'refusal'

/** Events that end an answer. */
const ENDS: ReadonlySet<unknown> = new Set([
  'response.completed',
  'response.incomplete',
  'response.done',
])

/** Reads one answer of the Responses API. */
export class ResponsesReader implements WireReader {
  #counts: TokenCounts = {}
  #isOver = false
  #last = 0
  readonly #texts = new Map<string, string>()
  readonly #calls = new Map<number, OpenCall>()

  get isOver(): boolean {
    return this.#isOver
  }

  #addText(kind: TextKind, at: Json, text: string): readonly Json[] {
    const key = `${kind} ${String(at['output_index'])} ${String(at['content_index'])}`
    this.#texts.set(key, (this.#texts.get(key) ?? '') + text)
    return kind === 'refusal' || text === ''
      ? []
      : [{ ...at, type: 'response.output_text.delta', delta: text }]
  }

  /** Sends a text whose deltas were missing. */
  #endText(kind: TextKind, at: Json, text: string): readonly Json[] {
    const key = `${kind} ${String(at['output_index'])} ${String(at['content_index'])}`
    if ((this.#texts.get(key) ?? '') !== '' || text === '') return []
    return [
      ...this.#addText(kind, at, text),
      ...(kind === 'refusal' ? [{ ...at, type: 'response.refusal.done', refusal: text }] : []),
    ]
  }

  #startCall(index: number, item: Json): readonly Json[] {
    if (this.#calls.has(index)) return []
    const args = readArgumentText(item['arguments'])
    const name = readNonEmpty(item['name']) ?? ''
    this.#calls.set(index, { name, args, unsent: '' })
    const id = readScalar(item['call_id']) || readScalar(item['id'])
    const fields = { type: 'function_call', name, arguments: args, call_id: id, id: item['id'] }
    return [{ type: 'response.output_item.added', output_index: index, item: fields }]
  }

  #addArguments(index: number, text: string): void {
    const call = this.#calls.get(index)
    if (call === undefined) return
    call.args += text
    call.unsent += text
  }

  /** Sends the arguments of calls. */
  #endArguments(indexes: readonly number[]): readonly Json[] {
    return indexes.flatMap((index) => {
      const call = this.#calls.get(index)
      if (call === undefined || call.unsent === '') return []
      const delta = call.unsent
      call.unsent = ''
      return [{ type: 'response.function_call_arguments.delta', output_index: index, delta }]
    })
  }

  #endItem(index: number, item: Json): readonly Json[] {
    if (item['type'] === 'function_call') {
      const started = this.#startCall(index, item)
      if (started.length > 0) return started
      if (this.#calls.get(index)?.args === '') {
        this.#addArguments(index, readArgumentText(item['arguments']))
      }
      return this.#endArguments([index])
    }
    if (item['type'] !== 'message') {
      return [{ type: 'response.output_item.done', output_index: index, item }]
    }
    return readObjects(item['content']).flatMap((part, content) => {
      const at = { output_index: index, content_index: content }
      return part['type'] === 'refusal'
        ? this.#endText('refusal', at, readScalar(part['refusal']))
        : this.#endText('output_text', at, readScalar(part['text']))
    })
  }

  #finish(response: Json, type: string): Json {
    const { input, output, total, cacheRead, cacheWrite, reasoning } = includeCache(this.#counts)
    const incomplete = readObject(response['incomplete_details'])
    return {
      type,
      response: {
        ...response,
        status: readNonEmpty(response['status']) ?? type.slice('response.'.length),
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

  #hasContent(): boolean {
    const all = [...this.#calls.values()]
    return all.length > 0
      ? all.every(({ name, args }) => isCompleteCall({ id: '', name, arguments: args || '{}' }))
      : [...this.#texts.values()].some((text) => text !== '')
  }

  read(event: Json): readonly Json[] {
    const { type } = event
    const index = readIndex(event['output_index']) ?? this.#last
    this.#last = index
    const at = {
      item_id: event['item_id'],
      output_index: index,
      content_index: readIndex(event['content_index']) ?? 0,
    }
    if (ENDS.has(type)) return this.#readEnd(event)
    switch (type) {
      case 'response.output_text.delta':
        return this.#addText('output_text', at, readScalar(event['delta']))
      case 'response.output_text.done':
        return this.#endText('output_text', at, readScalar(event['text']))
      case 'response.refusal.delta':
        return []
      case 'response.refusal.done':
        return this.#endText('refusal', at, readScalar(event['refusal']))
      case 'response.function_call_arguments.delta':
        this.#addArguments(index, readArgumentText(event['delta']))
        return []
      case 'response.function_call_arguments.done':
        if (this.#calls.get(index)?.args === '') {
          this.#addArguments(index, readArgumentText(event['arguments']))
        }
        return this.#endArguments([index])
      case 'response.output_item.added': {
        const item = readObject(event['item']) ?? {}
        return item['type'] === 'function_call'
          ? this.#startCall(index, item)
          : [{ ...event, item }]
      }
      case 'response.output_item.done':
        return this.#endItem(index, readObject(event['item']) ?? {})
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

  /** Reads the last event, and sends the items of the whole answer that had no separate events. */
  #readEnd({ type, response: given }: Json): readonly Json[] {
    const response = readObject(given) ?? {}
    this.#counts = mergeCounts(this.#counts, readCounts(response['usage']))
    this.#isOver = true
    const missing = readObjects(response['output']).flatMap((item, index) =>
      item['type'] === 'message' || item['type'] === 'function_call'
        ? this.#endItem(index, item)
        : [],
    )
    const isIncomplete = type === 'response.incomplete' || response['status'] === 'incomplete'
    const end = isIncomplete ? 'response.incomplete' : 'response.completed'
    return [...missing, ...this.#endArguments([...this.#calls.keys()]), this.#finish(response, end)]
  }

  end(isDone: boolean): readonly Json[] {
    const args = this.#endArguments([...this.#calls.keys()])
    if (this.#isOver || !isDone || !this.#hasContent()) return args
    return [...args, this.#finish({}, 'response.completed')]
  }

  readWhole(body: Json): readonly Json[] | undefined {
    if (!Array.isArray(body['output'])) return undefined
    return this.read({ type: 'response.done', response: body })
  }

  repairWhole(body: Json): Json {
    if (!Array.isArray(body['output'])) return body
    this.#counts = mergeCounts(this.#counts, readCounts(body['usage']))
    const { response } = this.#finish(body, 'response.completed')
    return readObject(response) ?? body
  }
}

/** Returns an item of the whole answer with the lists that LangChain expects. */
function toWireItem(item: Json): Json {
  if (item['type'] === 'function_call') {
    return { ...item, arguments: readArgumentText(item['arguments']) || '{}' }
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
