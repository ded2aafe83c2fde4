/** The message of one model turn in a response, as events. */
import type { MessageItem, OutputPart, SegmentEvent } from './wire.ts'

/** A message that is being written. */
export class WrittenMessage {
  readonly #id: string
  readonly #index: number
  #text = ''

  constructor(id: string, index: number) {
    this.#id = id
    this.#index = index
  }

  /** The text so far. */
  get text(): string {
    return this.#text
  }

  /** Returns the events that open the message. */
  open(): readonly SegmentEvent[] {
    const position = { item_id: this.#id, output_index: this.#index, content_index: 0 }
    const item = { ...this.#item('in_progress'), content: [] }
    return [
      { type: 'response.output_item.added', output_index: this.#index, item },
      { type: 'response.content_part.added', ...position, part: toText('') },
    ]
  }

  /** Returns the events that add text. */
  add(delta: string): readonly SegmentEvent[] {
    if (delta === '') return []
    this.#text += delta
    const position = { item_id: this.#id, output_index: this.#index, content_index: 0 }
    return [{ type: 'response.output_text.delta', ...position, delta, logprobs: [] }]
  }

  /** Returns the events that close the message, and the whole message. */
  close(
    status: MessageItem['status'],
    phase: MessageItem['phase'],
  ): { readonly events: readonly SegmentEvent[]; readonly item: MessageItem } {
    const item = { ...this.#item(status), ...(phase === undefined ? {} : { phase }) }
    const position = { item_id: this.#id, output_index: this.#index, content_index: 0 }
    const part = toText(this.#text)
    return {
      item,
      events: [
        { type: 'response.output_text.done', ...position, text: this.#text, logprobs: [] },
        { type: 'response.content_part.done', ...position, part },
        { type: 'response.output_item.done', output_index: this.#index, item },
      ],
    }
  }

  /** Returns the message as it is. */
  snapshot(): MessageItem {
    return this.#item('in_progress')
  }

  #item(status: MessageItem['status']): MessageItem {
    const content = [toText(this.#text)]
    return { type: 'message', id: this.#id, role: 'assistant', status, content }
  }
}

/** Returns a refusal as a message, and its events. */
export function writeRefusal(
  id: string,
  index: number,
  refusal: string,
): { readonly events: readonly SegmentEvent[]; readonly item: MessageItem } {
  const part: OutputPart = { type: 'refusal', refusal }
  const message = { type: 'message', id, role: 'assistant' } as const
  const item: MessageItem = { ...message, status: 'completed', content: [part] }
  const position = { item_id: id, output_index: index, content_index: 0 }
  return {
    item,
    events: [
      {
        type: 'response.output_item.added',
        output_index: index,
        item: { ...message, status: 'in_progress', content: [] },
      },
      { type: 'response.content_part.added', ...position, part: { type: 'refusal', refusal: '' } },
      { type: 'response.refusal.delta', ...position, delta: refusal },
      { type: 'response.refusal.done', ...position, refusal },
      { type: 'response.content_part.done', ...position, part },
      { type: 'response.output_item.done', output_index: index, item },
    ],
  }
}

function toText(text: string): OutputPart {
  return { type: 'output_text', text, annotations: [], logprobs: [] }
}
