/**
 * Brings streams of chat completions into OpenAI's form. No I/O.
 *
 * LC-C1 Every chunk has the role `assistant`, text as a string and reasoning as `reasoning_content`.
 * LC-C2 The calls, each with all of its arguments, the finish reason and the usage are sent once, at the end.
 * LC-C3 `[DONE]` ends an answer that has text or complete calls, also when no finish reason was sent.
 *
 * @see https://platform.openai.com/docs/api-reference/chat-streaming
 */
import { isBrokenEnd } from '../finish-reason.ts'
import {
  includeCache,
  mergeCounts,
  readCounts,
  hasCounts,
  type TokenCounts,
} from '../token-counts.ts'
import {
  isCompleteCall,
  joinFragments,
  mergeFragments,
  type ToolCallFragment,
} from '../tool-call-fragments.ts'
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

/** Parts of a chunk. */
interface Delta {
  readonly text: string
  readonly reasoning: string
  readonly refusal: string
  readonly fragments: readonly ToolCallFragment[]
}

/** Reads one answer of chat completions. */
export class CompletionsReader implements WireReader {
  readonly isOver = false
  #head: Json = { object: 'chat.completion.chunk', created: 0 }
  #counts: TokenCounts = {}
  #said: string | undefined
  #chosen: unknown
  #hasText = false
  readonly #fragments: ToolCallFragment[] = []

  read(event: Json): readonly Json[] {
    const delta = this.#take(event)
    return delta === undefined || isBlank(delta) ? [] : [this.#chunk(toWire(delta))]
  }

  end(isDone: boolean): readonly Json[] {
    const finish = this.#findEnd(isDone)
    const usage = toWireUsage(this.#counts)
    const calls = mergeFragments(this.#fragments).map(toWireFragment)
    return [
      ...(calls.length === 0 ? [] : [this.#chunk({ content: '', tool_calls: calls })]),
      ...(finish === undefined ? [] : [this.#chunk({ content: '' }, finish)]),
      ...(usage === undefined ? [] : [{ ...this.#head, choices: [], usage }]),
    ]
  }

  readWhole(body: Json): readonly Json[] | undefined {
    if (!Array.isArray(body['choices'])) return undefined
    return [...this.read(body), ...this.end(true)]
  }

  repairWhole(body: Json): Json {
    const delta = this.#take(body)
    if (delta === undefined) return body
    const usage = toWireUsage(this.#counts)
    const calls = joinFragments(this.#fragments, () => '').map(({ id, name, arguments: text }) => ({
      ...(id === '' ? {} : { id }),
      type: 'function',
      function: { name, arguments: text },
    }))
    const message = { role: 'assistant', ...toWire(delta) }
    return {
      ...this.#head,
      object: 'chat.completion',
      choices: [
        {
          index: 0,
          message: calls.length === 0 ? message : { ...message, tool_calls: calls },
          finish_reason: this.#findEnd(true) ?? null,
        },
      ],
      ...(usage === undefined ? {} : { usage }),
    }
  }

  #chunk(delta: Json, finish: string | null = null): Json {
    return {
      ...this.#head,
      choices: [{ index: 0, delta: { role: 'assistant', ...delta }, finish_reason: finish }],
    }
  }

  /** Returns the choice that is read: one answer has one choice, so that others are ignored. */
  #choose(event: Json): Json | undefined {
    const choice = readObjects(event['choices']).find(
      ({ index }) => this.#chosen === undefined || index === undefined || index === this.#chosen,
    )
    this.#chosen ??= choice?.['index'] ?? undefined
    return choice
  }

  #take(event: Json): Delta | undefined {
    const { id, model } = event
    this.#head = { ...textFields({ id, model }), ...this.#head }
    const choice = this.#choose(event)
    for (const usage of [
      readField(event['x_groq'], 'usage'),
      readField(choice, 'usage'),
      event['usage'],
    ]) {
      this.#counts = mergeCounts(this.#counts, readCounts(usage))
    }
    if (choice === undefined) return undefined
    const finish = readNonEmpty(choice['finish_reason'])
    if (this.#said === undefined || (finish !== undefined && isBrokenEnd(finish))) {
      this.#said = finish
    }
    const isEmpty = !this.#hasText && this.#fragments.length === 0
    // NOTE: some services repeat the whole message in every chunk, next to the delta.
    const whole = isEmpty ? readObject(choice['message']) : undefined
    const delta = readDelta(readObject(choice['delta']) ?? whole ?? { content: choice['text'] })
    this.#hasText ||= delta.text !== '' || delta.refusal !== ''
    for (const fragment of delta.fragments) this.#fragments.push(fragment)
    return delta
  }

  #findEnd(isDone: boolean): string | undefined {
    if (this.#said !== undefined) return this.#said
    const calls = joinFragments(this.#fragments, () => '')
    if (calls.length > 0) return isDone && calls.every(isCompleteCall) ? 'tool_calls' : undefined
    return isDone && this.#hasText ? 'stop' : undefined
  }
}

function isBlank({ text, reasoning, refusal }: Delta): boolean {
  return text === '' && reasoning === '' && refusal === ''
}

/** Returns the texts of a chunk. */
function toWire({ text, reasoning, refusal }: Delta): Json {
  return {
    content: text,
    ...(reasoning === '' ? {} : { reasoning_content: reasoning }),
    ...(refusal === '' ? {} : { refusal }),
  }
}

function toWireFragment({ index, id, name, args }: ToolCallFragment): Json {
  return {
    ...(index === undefined ? {} : { index }),
    ...(id === undefined ? {} : { id }),
    type: 'function',
    function: { ...(name === undefined ? {} : { name }), arguments: args ?? '' },
  }
}

function toWireUsage(counts: TokenCounts): Json | undefined {
  if (!hasCounts(counts)) return undefined
  const { input, output, total, cacheRead, cacheWrite, reasoning } = includeCache(counts)
  return {
    ...knownFields({ prompt_tokens: input, completion_tokens: output, total_tokens: total }),
    prompt_tokens_details: knownFields({
      cached_tokens: cacheRead,
      cache_write_tokens: cacheWrite,
    }),
    completion_tokens_details: knownFields({ reasoning_tokens: reasoning }),
  }
}

function readDelta(part: Json): Delta {
  const { text, reasoning, refusal } = readContent(part['content'])
  const calls = readObjects(part['tool_calls']).map(readFragment)
  const call = readObject(part['function_call'])
  return {
    text,
    reasoning: reasoning + readReasoning(part),
    refusal: refusal + (readNonEmpty(part['refusal']) ?? ''),
    fragments: call === undefined ? calls : [...calls, readFragment({ index: 0, function: call })],
  }
}

function readFragment(call: Json): ToolCallFragment {
  const made = readObject(call['function']) ?? call
  const id = readScalar(call['id'])
  return {
    index: readIndex(call['index']),
    id: id === '' ? undefined : id,
    name: readNonEmpty(made['name']),
    args: readArgumentText(made['arguments'] ?? call['arguments']),
  }
}

type Texts = Pick<Delta, 'text' | 'reasoning' | 'refusal'>

const NO_TEXTS: Texts = { text: '', reasoning: '', refusal: '' }

/** Reads content: a text, or parts of text and reasoning, as Mistral sends them. */
function readContent(content: unknown): Texts {
  if (Array.isArray(content)) return content.map(readContent).reduce(addTexts, NO_TEXTS)
  const part = readObject(content)
  if (part === undefined) return { ...NO_TEXTS, text: readScalar(content) }
  switch (part['type']) {
    case 'thinking':
    case 'reasoning':
    case 'reasoning_text':
      return { ...NO_TEXTS, reasoning: readNested(part) }
    case 'refusal':
      return { ...NO_TEXTS, refusal: readNonEmpty(part['refusal']) ?? '' }
    default:
      return { ...NO_TEXTS, text: readNested(part) }
  }
}

/** Returns the text in a part, which may be a list of parts or an object with a value. */
function readNested(part: Json): string {
  const value =
    part['text'] ?? part['thinking'] ?? part['reasoning'] ?? part['content'] ?? part['value']
  if (Array.isArray(value)) {
    return value.map((entry) => readNested(readObject(entry) ?? { text: entry })).join('')
  }
  return readScalar(readField(value, 'value') ?? value)
}

function addTexts(sum: Texts, next: Texts): Texts {
  return {
    text: sum.text + next.text,
    reasoning: sum.reasoning + next.reasoning,
    refusal: sum.refusal + next.refusal,
  }
}

/** Names of the field with reasoning. Some services send it under two of them, so only the first counts. */
const REASONING = [
  'reasoning_content',
  'reasoning',
  'reasoning_text',
  'thinking',
  'thought',
] as const

/**
 * Reads the reasoning next to the content.
 *
 * @see https://openrouter.ai/docs/use-cases/reasoning-tokens
 */
function readReasoning(part: Json): string {
  for (const name of REASONING) {
    const value = part[name]
    const text = readObject(value) === undefined ? readScalar(value) : readNested(Object(value))
    if (text !== '' && typeof value !== 'boolean') return text
  }
  return readObjects(part['reasoning_details'])
    .map((detail) => readNonEmpty(detail['text']) ?? readNonEmpty(detail['summary']) ?? '')
    .join('')
}

function textFields(fields: Json): Json {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => readNonEmpty(value) !== undefined),
  )
}

function knownFields(fields: Json): Json {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
}
