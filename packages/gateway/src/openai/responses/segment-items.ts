/**
 * The items of one response, from the operations of its run.
 *
 * GW-N3 The text is that of the output task, as the model writes it; each turn is one message. A turn that begins again
 *    waits for its whole text: the rest is sent if the text begins as before. Otherwise the first message ends as
 *    incomplete, the text is sent as another one, and the response at the end contains only the latter.
 * GW-N4 The final answer of the last response of a completed run is the output of the run. Text before calls of tools is
 *    a message with the phase `commentary`, and remains in the response at its end. The text of a failed attempt does not.
 * GW-N19 The readable reasoning of a turn is a reasoning item before its message, streamed as the model writes it. Items
 *    of a turn that begins again, and of a failed attempt, are not part of the response at its end.
 */
import { toMessageId } from './ids.ts'
import { WrittenMessage } from './message-items.ts'
import { WrittenReasoning } from './reasoning-items.ts'

import type { RunOperation } from '@tutti/protocol'
import type { BlockClosed, OutputBlock } from '@tutti/protocol/internal'
import type { MadeItem } from './call-items.ts'
import type { OutputItem, SegmentEvent } from './wire.ts'

/** Response whose items are made. */
export interface ItemsOptions {
  readonly runId: string
  /** Number of the response in its run. */
  readonly segment: number
  /** Whether text is sent only once it is valid. */
  readonly isStructured: boolean
}

/** An item that is being written, and its index. */
interface Open<Item> {
  readonly item: Item
  readonly index: number
}

/** Makes the items of one response. Its methods return the events to send. No I/O. */
export class SegmentItems {
  readonly #options: ItemsOptions
  /** Items by their index; undefined while one is written, and for void text. */
  readonly #items: (OutputItem | undefined)[] = []
  /** Id of a block → index of its item. */
  readonly #indexes = new Map<string, number>()
  #reasoning: Open<WrittenReasoning> | undefined
  #message: Open<WrittenMessage> | undefined
  /** Whether the turn of the message has begun again, and waits for its whole text. */
  #isHeld = false
  /** Indexes of the answer's messages. */
  #answer: readonly number[] = []
  /** Indexes of the reasoning and the messages before calls in the current attempt. */
  #attempt: readonly number[] = []

  constructor(options: ItemsOptions) {
    this.#options = options
  }

  /** Items so far, the open ones last. */
  get list(): readonly OutputItem[] {
    const open = [this.#reasoning, this.#message].flatMap((one) => one?.item.snapshot() ?? [])
    return [...this.#items.flatMap((item) => item ?? []), ...open]
  }

  /** Returns the events of an operation. */
  after(operation: RunOperation): readonly SegmentEvent[] {
    if ('block' in operation && !this.#isShown(operation.block)) return []
    switch (operation.type) {
      case 'turn_started':
        return operation.isRestart ? [] : this.#drop()
      case 'block_opened':
        return this.#open(operation.block)
      case 'block_grown': {
        if (operation.block.kind === 'reasoning')
          return this.#reasoning?.item.add(operation.delta) ?? []
        return this.#isHeld ? [] : (this.#message?.item.add(operation.delta) ?? [])
      }
      case 'block_closed':
        return operation.block.kind === 'reasoning'
          ? this.#closeReasoning('completed')
          : this.#closeText(operation)
      case 'withdrawn':
        return operation.blocks.flatMap((block) => this.#withdraw(block))
      case 'task':
        return operation.isOutput && operation.status === 'RETRYING' ? this.#voidAttempt() : []
      case 'output':
        return this.#state(operation.text)
      default:
        return []
    }
  }

  /** Adds a whole item after the text so far. */
  add(make: (id: string, index: number) => MadeItem<OutputItem>): readonly SegmentEvent[] {
    const dropped = this.#drop()
    const index = this.#reserve()
    const { events, item } = make(this.#toId(index), index)
    this.#items[index] = item
    return [...dropped, ...events]
  }

  /** Removes the answer from the response. */
  voidAnswer(): readonly SegmentEvent[] {
    const dropped = this.#drop()
    for (const index of this.#answer) this.#items[index] = undefined
    this.#answer = []
    return dropped
  }

  /** Ends the items that are being written as incomplete. */
  close(): readonly SegmentEvent[] {
    const reasoning = this.#closeReasoning('incomplete')
    const open = this.#message
    if (open === undefined) return reasoning
    const { events, item } = open.item.close('incomplete', 'final_answer')
    this.#items[open.index] = item
    this.#message = undefined
    return [...reasoning, ...events]
  }

  /** Whether a block is sent while it is written. An output is sent once it is stated. */
  #isShown({ kind }: OutputBlock): boolean {
    return kind === 'reasoning' || (kind === 'text' && !this.#options.isStructured)
  }

  #reserve(): number {
    return this.#items.push(undefined) - 1
  }

  #toId(index: number): string {
    return toMessageId(this.#options, index)
  }

  #open(block: OutputBlock): readonly SegmentEvent[] {
    if (block.kind === 'reasoning') {
      const { runId, segment } = this.#options
      const index = this.#reserve()
      const item = new WrittenReasoning(`rs_${runId}_${segment}_${index}`, index)
      this.#reasoning = { item, index }
      this.#indexes.set(block.id, index)
      this.#attempt = [...this.#attempt, index]
      return item.open()
    }
    return this.#message === undefined ? this.#openMessage() : []
  }

  #openMessage(): readonly SegmentEvent[] {
    const index = this.#reserve()
    const item = new WrittenMessage(this.#toId(index), index)
    this.#message = { item, index }
    this.#isHeld = false
    return item.open()
  }

  #closeReasoning(status: 'completed' | 'incomplete'): readonly SegmentEvent[] {
    const open = this.#reasoning
    if (open === undefined) return []
    this.#reasoning = undefined
    const { events, item } = open.item.close(status)
    this.#items[open.index] = item
    return events
  }

  #closeText({ block, text, toolNames, finishReason }: BlockClosed): readonly SegmentEvent[] {
    const differs = this.#message !== undefined && !text.startsWith(this.#message.item.text)
    const dropped = differs || text.trim() === '' ? this.#drop() : []
    if (text.trim() === '') return dropped
    const opened = this.#message === undefined ? this.#openMessage() : []
    const open = this.#message
    if (open === undefined) return dropped
    const rest = open.item.add(text.slice(open.item.text.length))
    const isComment = toolNames.length > 0
    const isCut = finishReason === 'length' || finishReason === 'content_filter'
    const { events, item } = open.item.close(
      isCut ? 'incomplete' : 'completed',
      isComment ? 'commentary' : 'final_answer',
    )
    this.#message = undefined
    this.#items[open.index] = item
    this.#indexes.set(block.id, open.index)
    if (isComment) this.#attempt = [...this.#attempt, open.index]
    this.#answer = isComment ? [] : [...this.#answer, open.index]
    return [...dropped, ...opened, ...rest, ...events]
  }

  /** Withdraws a block. A message that is being written waits for the text with which its turn begins again. */
  #withdraw({ id, kind }: OutputBlock): readonly SegmentEvent[] {
    const index = this.#indexes.get(id)
    if (kind === 'text' && index === undefined) this.#isHeld = true
    if (index === undefined) return []
    const closed = this.#reasoning?.index === index ? this.#closeReasoning('incomplete') : []
    this.#items[index] = undefined
    this.#answer = this.#answer.filter((one) => one !== index)
    return closed
  }

  /** Ends the message that is being written without making it a part of the response. */
  #drop(): readonly SegmentEvent[] {
    const open = this.#message
    if (open === undefined) return []
    this.#message = undefined
    return open.item.close('incomplete', undefined).events
  }

  #voidAttempt(): readonly SegmentEvent[] {
    const events = [...this.#closeReasoning('incomplete'), ...this.voidAnswer()]
    for (const index of this.#attempt) this.#items[index] = undefined
    this.#attempt = []
    return events
  }

  /** Sends the output, unless the answer has its text. */
  #state(output: string): readonly SegmentEvent[] {
    const dropped = this.#drop()
    const sent = this.#answer.map((index) => readItemText(this.#items[index])).join('')
    if (sent === output || output === '') return dropped
    const voided = this.voidAnswer()
    const block: OutputBlock = { id: 'output', kind: 'text', before: '' }
    const closed = this.#closeText({ type: 'block_closed', block, text: output, toolNames: [] })
    return [...dropped, ...voided, ...closed]
  }
}

/** Returns the text of an item; empty for other items. */
export function readItemText(item: OutputItem | undefined): string {
  if (item?.type !== 'message') return ''
  return item.content.map((part) => (part.type === 'output_text' ? part.text : '')).join('')
}
