/**
 * The messages of one stream of AG-UI, from the operations of its run.
 *
 * GW-Y6 Text is that of the output task, streamed as the model writes it: one message per model turn. A turn after a cut
 *    answer continues its message. If the output of the task differs from its last message, as after an edit, the output
 *    replaces that message.
 * GW-Y21 The readable reasoning of the output task is a reasoning message before the text of its turn. That of a completed
 *    turn remains; otherwise it is taken back like text.
 * GW-Y7 Text that did not become the output is taken back with a snapshot of the messages: that of a failed model call,
 *    of a failed attempt, of a lost process, and of an answer that the task did not accept. A conversation beyond
 *    4,000,000 characters keeps it as a separate message.
 * GW-Y8 Tool calls are those of all tasks, except counted ones (GW-GP4). Their ids are unique in the conversation and begin with
 *    the id of the run. A result that belongs to a call of an earlier segment refers to it.
 */
import { Transcript } from './transcript.ts'

import type { AguiEvent, AguiMessage } from './wire.ts'
import type { RunOperation } from '@tutti/protocol'
import type {
  BlockClosed,
  BlockGrown,
  BlocksWithdrawn,
  CallEnded,
  CallRequested,
  OutputBlock,
} from '@tutti/protocol/internal'

/** Makes the events of messages and tool calls. No I/O. */
export class AguiMessages {
  readonly #runId: string
  readonly #transcript: Transcript
  /** Ids of the messages of earlier segments. */
  readonly #earlier = new Set<string>()
  /** Ids of the calls whose results the client has. */
  readonly #answeredCalls: ReadonlySet<string>
  /** Text message that is being written. */
  #open: string | undefined
  /** Reasoning message that is being written. */
  #reasoning: string | undefined
  /** Newest text block, and its message: that of a cut answer if it continues one. */
  #newest: { readonly blockId: string; readonly messageId: string } | undefined
  #hasBegun = false

  constructor(runId: string, messages: readonly AguiMessage[]) {
    this.#runId = runId
    this.#transcript = new Transcript(messages)
    this.#answeredCalls = new Set(
      messages.flatMap(({ id, toolCallId }) => (this.#isOwn(id) ? [] : (toolCallId ?? []))),
    )
  }

  /** Begins the segment of the stream. Removes its messages from a conversation that joins late. */
  *begin(): Generator<AguiEvent> {
    this.#hasBegun = true
    this.#open = undefined
    this.#reasoning = undefined
    if (this.#transcript.drop((id) => this.#isOwn(id) && !this.#earlier.has(id))) {
      yield { type: 'MESSAGES_SNAPSHOT', messages: this.#transcript.messages }
    }
  }

  /** Remembers an event that was sent. */
  add(event: AguiEvent): void {
    this.#transcript.add(event)
  }

  /** Returns the id by which the client knows a call. */
  toCallId(callId: string): string {
    return this.#toId(callId)
  }

  /** Yields the events of an operation. */
  *after(operation: RunOperation): Generator<AguiEvent> {
    switch (operation.type) {
      case 'block_grown':
        yield* operation.block.kind === 'reasoning'
          ? this.#reason(operation)
          : this.#write(operation)
        return
      case 'block_closed':
        yield* this.#closeBlock(operation)
        return
      case 'withdrawn':
        yield* this.#withdraw(operation)
        return
      case 'call_requested':
        yield* this.#request(operation)
        return
      case 'call_ended':
        yield* this.#endCall(operation)
        return
      default:
    }
  }

  /** Ends the messages that are being written. */
  *close(): Generator<AguiEvent> {
    yield* this.#closeReasoning()
    if (this.#open === undefined) return
    yield { type: 'TEXT_MESSAGE_END', messageId: this.#open }
    this.#open = undefined
  }

  *#reason({ block, delta }: BlockGrown): Generator<AguiEvent> {
    const messageId = this.#toId(block.id)
    if (this.#reasoning !== messageId) {
      this.#reasoning = messageId
      this.#remember(messageId)
      yield { type: 'REASONING_START', messageId }
      yield { type: 'REASONING_MESSAGE_START', messageId, role: 'reasoning' }
    }
    yield { type: 'REASONING_MESSAGE_CONTENT', messageId, delta }
  }

  *#closeReasoning(): Generator<AguiEvent> {
    const messageId = this.#reasoning
    if (messageId === undefined) return
    this.#reasoning = undefined
    yield { type: 'REASONING_MESSAGE_END', messageId }
    yield { type: 'REASONING_END', messageId }
  }

  *#write({ block, delta }: BlockGrown): Generator<AguiEvent> {
    yield* this.#writeTo(this.#enter(block), delta)
  }

  /** Returns the id of the message of a text block. */
  #enter({ id, before }: OutputBlock): string {
    const newest = this.#newest
    if (newest?.blockId === id) return newest.messageId
    const messageId = before === '' || newest === undefined ? this.#toId(id) : newest.messageId
    this.#newest = { blockId: id, messageId }
    return messageId
  }

  *#writeTo(messageId: string, delta: string): Generator<AguiEvent> {
    if (this.#open !== messageId) {
      yield* this.close()
      this.#open = messageId
      this.#remember(messageId)
      yield { type: 'TEXT_MESSAGE_START', messageId, role: 'assistant' }
    }
    yield { type: 'TEXT_MESSAGE_CONTENT', messageId, delta }
  }

  *#closeBlock({ block, toolNames, finishReason }: BlockClosed): Generator<AguiEvent> {
    if (block.kind === 'reasoning') yield* this.#closeReasoning()
    // The next turn can continue a cut answer.
    else if (finishReason !== 'length' || toolNames.length > 0) yield* this.close()
  }

  /** Takes back the messages of blocks. The part of a continued message that remains is written again. */
  *#withdraw({ blocks }: BlocksWithdrawn): Generator<AguiEvent> {
    const ids = blocks.map((block) =>
      block.kind === 'reasoning' ? this.#toId(block.id) : this.#enter(block),
    )
    yield* this.close()
    for (const messageId of ids) this.#earlier.delete(messageId)
    const messages = this.#hasBegun ? this.#transcript.takeBack(ids) : undefined
    if (messages !== undefined) yield { type: 'MESSAGES_SNAPSHOT', messages }
    const cut = blocks.find(({ before }) => before !== '')
    const isPartLeft =
      cut !== undefined && blocks.every(({ kind, before }) => kind !== 'text' || before !== '')
    this.#newest = undefined
    if (!isPartLeft) return
    const messageId = this.#toId(cut.id)
    this.#newest = { blockId: cut.id, messageId }
    yield* this.#writeTo(messageId, cut.before)
  }

  *#request({ callId, turnId, toolName, arguments: delta }: CallRequested): Generator<AguiEvent> {
    const toolCallId = this.#toId(callId)
    const { blockId, messageId } = this.#newest ?? {}
    const parentMessageId =
      blockId === turnId && messageId !== undefined ? messageId : this.#toId(turnId)
    this.#remember(parentMessageId)
    yield { type: 'TOOL_CALL_START', toolCallId, toolCallName: toolName, parentMessageId }
    if (delta !== '') yield { type: 'TOOL_CALL_ARGS', toolCallId, delta }
    yield { type: 'TOOL_CALL_END', toolCallId }
  }

  *#endCall({ callId, event }: CallEnded): Generator<AguiEvent> {
    const toolCallId = this.#toId(callId)
    if (this.#answeredCalls.has(toolCallId)) return
    const messageId = `${toolCallId}:result`
    this.#remember(messageId)
    const content = event.toolResult ?? ''
    yield { type: 'TOOL_CALL_RESULT', messageId, toolCallId, content, role: 'tool' }
  }

  #remember(messageId: string): void {
    if (!this.#hasBegun) this.#earlier.add(messageId)
  }

  #toId(key: string): string {
    return `${this.#runId}:${key}`
  }

  /** Whether the run made a message. */
  #isOwn(messageId: string): boolean {
    return messageId.startsWith(`${this.#runId}:`)
  }
}

/** Returns the id of the run to which the id of a message or a call belongs; none for an id of the client. */
export function readRunId(id = ''): readonly string[] {
  const colon = id.indexOf(':')
  return colon === -1 ? [] : [id.slice(0, colon)]
}
