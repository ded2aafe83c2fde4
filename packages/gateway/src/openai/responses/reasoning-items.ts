/** The reasoning of one model turn in a response, as events. */
import type { ReasoningItem, SegmentEvent } from './wire.ts'

/** Reasoning that is being written: one item with one part of a summary. */
export class WrittenReasoning {
  readonly #id: string
  readonly #index: number
  #text = ''

  constructor(id: string, index: number) {
    this.#id = id
    this.#index = index
  }

  /** Returns the events that open the item. */
  open(): readonly SegmentEvent[] {
    const item = { ...this.snapshot(), summary: [] }
    return [
      { type: 'response.output_item.added', output_index: this.#index, item },
      { type: 'response.reasoning_summary_part.added', ...this.#position, part: toPart('') },
    ]
  }

  /** Returns the event that adds text. */
  add(delta: string): readonly SegmentEvent[] {
    this.#text += delta
    return [{ type: 'response.reasoning_summary_text.delta', ...this.#position, delta }]
  }

  /** Returns the events that close the item, and the whole item. */
  close(status: ReasoningItem['status']): {
    readonly events: readonly SegmentEvent[]
    readonly item: ReasoningItem
  } {
    const item = { ...this.snapshot(), status }
    const text = this.#text
    return {
      item,
      events: [
        { type: 'response.reasoning_summary_text.done', ...this.#position, text },
        { type: 'response.reasoning_summary_part.done', ...this.#position, part: toPart(text) },
        { type: 'response.output_item.done', output_index: this.#index, item },
      ],
    }
  }

  /** Returns the item as it is. */
  snapshot(): ReasoningItem {
    const summary = [toPart(this.#text)]
    return { type: 'reasoning', id: this.#id, status: 'in_progress', summary }
  }

  get #position() {
    return { item_id: this.#id, output_index: this.#index, summary_index: 0 }
  }
}

function toPart(text: string): ReasoningItem['summary'][number] {
  return { type: 'summary_text', text }
}
