/**
 * The messages of the conversation as the client of one stream has them.
 *
 * A snapshot of all messages is the only way to take back text in AG-UI, so the stream remembers what it sent, up to
 * {@link MAX_CHARACTERS}.
 */
import type { AguiEvent, AguiMessage } from './wire.ts'

/** Maximum size of the remembered messages, in characters. */
const MAX_CHARACTERS = 4_000_000

/** A tool call of a message. */
interface WrittenCall {
  readonly id: string
  readonly type: 'function'
  readonly function: { readonly name: string; arguments: string }
}

/** A message that is being written. */
interface WrittenMessage {
  readonly id: string
  readonly role: 'assistant' | 'reasoning' | 'tool'
  content: string
  toolCalls?: WrittenCall[]
  toolCallId?: string
}

/** Messages of the request, and those that the stream has sent since. */
export class Transcript {
  #given: readonly AguiMessage[]
  readonly #sent = new Map<string, WrittenMessage>()
  /** Tool calls of those messages, by their id. */
  readonly #calls = new Map<string, WrittenCall>()
  #room = MAX_CHARACTERS

  constructor(given: readonly AguiMessage[]) {
    this.#given = given
  }

  /** Removes messages of the request. Returns whether there were any. */
  drop(isDropped: (messageId: string) => boolean): boolean {
    const rest = this.#given.filter(({ id }) => !isDropped(id))
    const hasChanged = rest.length < this.#given.length
    this.#given = rest
    return hasChanged
  }

  /** Remembers what an event adds to the conversation. */
  add(event: AguiEvent): void {
    switch (event.type) {
      case 'TEXT_MESSAGE_START':
        this.#message(event.messageId)
        break
      case 'TEXT_MESSAGE_CONTENT':
        this.#message(event.messageId).content += this.#take(event.delta)
        break
      case 'REASONING_MESSAGE_START':
        this.#message(event.messageId, 'reasoning')
        break
      case 'REASONING_MESSAGE_CONTENT':
        this.#message(event.messageId, 'reasoning').content += this.#take(event.delta)
        break
      case 'TOOL_CALL_START': {
        const { toolCallId: id, toolCallName: name, parentMessageId } = event
        const message = this.#message(parentMessageId)
        const call: WrittenCall = { id, type: 'function', function: { name, arguments: '' } }
        message.toolCalls ??= []
        message.toolCalls.push(call)
        this.#calls.set(id, call)
        break
      }
      case 'TOOL_CALL_ARGS':
        this.#addArguments(event.toolCallId, this.#take(event.delta))
        break
      case 'TOOL_CALL_RESULT': {
        const { messageId: id, toolCallId, content } = event
        this.#sent.set(id, { id, role: 'tool', toolCallId, content: this.#take(content) })
        break
      }
      default:
    }
  }

  /**
   * Takes back messages. Returns the conversation without them; undefined when the client keeps all of them, because they
   * request tools or the conversation is too large to be sent again.
   */
  takeBack(messageIds: readonly string[]): readonly AguiMessage[] | undefined {
    const taken = messageIds.filter((messageId) => this.#forget(messageId))
    return taken.length === 0 || this.#room < 0 ? undefined : this.messages
  }

  /** Forgets a message, unless it requests tools. Returns whether it did. */
  #forget(messageId: string): boolean {
    const given = this.#given.find(({ id }) => id === messageId)
    const message = this.#sent.get(messageId) ?? given
    if (message === undefined || (message.toolCalls ?? []).length > 0) return false
    this.#sent.delete(messageId)
    this.drop((id) => id === messageId)
    return true
  }

  /** The conversation. */
  get messages(): readonly AguiMessage[] {
    const known = new Set(this.#given.map(({ id }) => id))
    return [...this.#given, ...[...this.#sent.values()].filter(({ id }) => !known.has(id))]
  }

  #message(id: string, role: WrittenMessage['role'] = 'assistant'): WrittenMessage {
    const known = this.#sent.get(id)
    if (known !== undefined) return known
    const message: WrittenMessage = { id, role, content: '' }
    this.#sent.set(id, message)
    return message
  }

  #addArguments(toolCallId: string, delta: string): void {
    const call = this.#calls.get(toolCallId)
    if (call !== undefined) call.function.arguments += delta
  }

  /** Returns the text if there is room for it. */
  #take(text: string): string {
    this.#room -= text.length
    return this.#room < 0 ? '' : text
  }
}
