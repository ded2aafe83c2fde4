/**
 * Brings streams of Anthropic's Messages API into the form of Anthropic. No I/O.
 *
 * LC-A1 Usage is gathered from all events and sent with the stop reason, as a field of its `delta`, because LangChain
 *    reads the input from the first event only.
 * LC-A2 Arguments are passed on for calls of the application's tools only, as one delta when their block ends:
 *    LangChain parses all arguments again with each piece. Anthropic executes its server tools itself.
 * LC-A3 `message_stop` ends an answer that has text or complete calls, also when no stop reason was sent.
 *
 * @see https://platform.claude.com/docs/en/build-with-claude/streaming
 */
import { hasCounts, mergeCounts, readCounts, type TokenCounts } from '../token-counts.ts'
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

/** A call of one of the application's tools. */
interface OpenCall {
  readonly name: string
  /** Arguments that the first event of the block has; sent if no others follow. */
  readonly early: string
  args: string
  /** Arguments that are not sent yet. */
  unsent: string
}

/** Type of a delta → the field that it must have. */
const DELTA_FIELDS: Readonly<Record<string, string>> = {
  text_delta: 'text',
  thinking_delta: 'thinking',
  signature_delta: 'signature',
}

/** Reads one answer of the Messages API. */
export class MessagesReader implements WireReader {
  #counts: TokenCounts = {}
  #delta: Json = {}
  #hasText = false
  #isOver = false
  #last = 0
  readonly #calls = new Map<number, OpenCall>()

  get isOver(): boolean {
    return this.#isOver
  }

  #startBlock(index: number, block: Json): readonly Json[] {
    const { type } = block
    const start = (fields: Json): Json => ({
      type: 'content_block_start',
      index,
      content_block: fields,
    })
    if (type === 'tool_use') {
      const input = readArgumentText(block['input'])
      const early = input === '{}' ? '' : input
      this.#calls.set(index, {
        name: readNonEmpty(block['name']) ?? '',
        early,
        args: '',
        unsent: '',
      })
      const id = readScalar(block['id'])
      const name = readNonEmpty(block['name'])
      return [start({ type, ...(id === '' ? {} : { id }), ...(name && { name }), input: {} })]
    }
    if (type !== 'text' && type !== 'thinking') return [start(block)]
    const text = readScalar(block[type])
    return [
      start({ ...block, [type]: '' }),
      ...(text === '' ? [] : this.#addDelta(index, { type: `${type}_delta`, [type]: text })),
    ]
  }

  #addDelta(index: number, given: Json): readonly Json[] {
    const type = readNonEmpty(given['type']) ?? guessType(given)
    const event = (fields: Json): Json => ({
      type: 'content_block_delta',
      index,
      delta: { type, ...fields },
    })
    if (type === 'input_json_delta') {
      const call = this.#calls.get(index)
      if (call === undefined) return []
      const text = readArgumentText(given['partial_json'])
      call.args += text
      call.unsent += text
      return []
    }
    const field = DELTA_FIELDS[type]
    if (field === undefined) return [event(given)]
    const text = readScalar(given[field])
    this.#hasText ||= type === 'text_delta' && text !== ''
    return [event({ [field]: text })]
  }

  /** Sends the arguments of the calls; those that came with the first event of a block if no others followed. */
  #endBlocks(indexes: readonly number[]): readonly Json[] {
    return indexes.flatMap((index) => {
      const call = this.#calls.get(index)
      if (call === undefined) return []
      if (call.args === '') call.unsent = call.args = call.early
      const text = call.unsent
      call.unsent = ''
      const delta = { type: 'input_json_delta', partial_json: text }
      return text === '' ? [] : [{ type: 'content_block_delta', index, delta }]
    })
  }

  #takeUsage(event: Json): void {
    for (const usage of [readField(event['message'], 'usage'), event['usage']]) {
      this.#counts = mergeCounts(this.#counts, readCounts(usage))
    }
  }

  #findEnd(): string | undefined {
    const all = [...this.#calls.values()].map(({ name, args, early }) => ({
      id: '',
      name,
      arguments: args || early || '{}',
    }))
    if (all.length > 0) return all.every(isCompleteCall) ? 'tool_use' : undefined
    return this.#hasText ? 'end_turn' : undefined
  }

  read(event: Json): readonly Json[] {
    this.#takeUsage(event)
    const index = readIndex(event['index']) ?? this.#last
    this.#last = index
    switch (event['type']) {
      case 'message_start':
        return [startEvent(readObject(event['message']) ?? {})]
      case 'content_block_start':
        return this.#startBlock(index, readObject(event['content_block']) ?? {})
      case 'content_block_delta':
        return this.#addDelta(index, readObject(event['delta']) ?? {})
      case 'content_block_stop':
        return [...this.#endBlocks([index]), { type: 'content_block_stop', index }]
      case 'message_delta':
        this.#delta = { ...this.#delta, ...knownFields(readObject(event['delta']) ?? {}) }
        return []
      case 'message_stop':
        this.#isOver = true
        return []
      default:
        return []
    }
  }

  end(isDone: boolean): readonly Json[] {
    const said = readNonEmpty(this.#delta['stop_reason'])
    const end = said ?? (isDone || this.#isOver ? this.#findEnd() : undefined)
    const usage = toWireUsage(this.#counts)
    return [
      ...this.#endBlocks([...this.#calls.keys()]),
      {
        type: 'message_delta',
        delta: {
          ...this.#delta,
          stop_reason: end ?? null,
          ...(hasCounts(this.#counts) ? { usage } : {}),
        },
        usage: { output_tokens: usage['output_tokens'] ?? 0 },
      },
      { type: 'message_stop' },
    ]
  }

  readWhole(body: Json): readonly Json[] | undefined {
    if (!Array.isArray(body['content'])) return undefined
    const { stop_reason, stop_sequence, stop_details, usage } = body
    const blocks = readObjects(body['content']).flatMap((block, index) => [
      { type: 'content_block_start', index, content_block: block },
      { type: 'content_block_stop', index },
    ])
    const events: readonly Json[] = [
      { type: 'message_start', message: body },
      ...blocks,
      { type: 'message_delta', delta: { stop_reason, stop_sequence, stop_details }, usage },
      { type: 'message_stop' },
    ]
    return [...events.flatMap((event) => this.read(event)), ...this.end(true)]
  }

  repairWhole(body: Json): Json {
    this.#takeUsage(body)
    const content = readObjects(body['content']).map((block) =>
      typeof block['input'] === 'string' && block['type'] === 'tool_use'
        ? { ...block, input: parseInput(block['input']) }
        : block,
    )
    return { ...body, content, usage: toWireUsage(this.#counts) }
  }
}

/** Returns the first event. Usage, stop reason and content come later. */
function startEvent(message: Json): Json {
  const { id, model } = message
  return {
    type: 'message_start',
    message: {
      id: readNonEmpty(id) ?? 'message',
      type: 'message',
      role: 'assistant',
      content: [],
      model: readNonEmpty(model) ?? '',
      usage: { input_tokens: 0, output_tokens: 0 },
    },
  }
}

function guessType(delta: Json): string {
  const [type] = Object.entries(DELTA_FIELDS).find(([, field]) => field in delta) ?? []
  return type ?? ('partial_json' in delta ? 'input_json_delta' : 'unknown')
}

function toWireUsage({ input, output, cacheRead, cacheWrite, excludesCache }: TokenCounts): Json {
  const cached = (cacheRead ?? 0) + (cacheWrite ?? 0)
  return knownFields({
    input_tokens:
      excludesCache === true || input === undefined ? input : Math.max(0, input - cached),
    output_tokens: output,
    cache_read_input_tokens: cacheRead,
    cache_creation_input_tokens: cacheWrite,
  })
}

function parseInput(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

function knownFields(fields: Json): Json {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined && value !== null),
  )
}
