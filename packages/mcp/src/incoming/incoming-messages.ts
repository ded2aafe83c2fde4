/**
 * Reads the messages of a server, and ends a request even if its answer is unusable. The SDK
 * drops such an answer, so its request would wait until a time limit. No I/O.
 *
 *   text ─JSON─▶ request, notification ─────────────▶ messages for the SDK
 *          └───▶ answer ─whole?─▶ its result by method ─┘
 *                          └─no─▶ an error with the reason
 *
 * MCP-N1 An answer with the id of an open request ends that request: with its result or error, otherwise with the
 *    reason why it cannot be used. A number that is sent as text is the same id.
 * MCP-N2 An answer without a usable id ends the request of its exchange. On a channel that requests share, it ends the
 *    open requests as soon as there are no more of them than such answers.
 * MCP-N3 Text that is not a message, such as a log entry, is ignored. It is an answer only if it has `jsonrpc`, or
 *    nothing but fields of an answer.
 * MCP-N4 A batch is read only by protocol 2025-03-26, which has batches. It ends the requests that it names.
 * MCP-N5 A message has at most 50,000 fields and items, and 1,000 levels. A larger answer is not parsed; it ends its
 *    request.
 */
import { findJsonExcess, isJsonObject } from '@tutti/core/internal'

import { MESSAGE_LIMITS, parseMarked } from '../exact-messages.ts'
import { adaptResult, type IsContentBlock } from './adapt-result.ts'
import { failedAnswer, preview } from './failed-answer.ts'

import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/client'

/** The only protocol version with batches. @see https://modelcontextprotocol.io/specification/2025-03-26/basic */
const VERSION_WITH_BATCHES = '2025-03-26'

/** Fields of an answer. */
const ANSWER_FIELDS: ReadonlySet<string> = new Set(['jsonrpc', 'id', 'result', 'error'])

/** The start of a line with several messages, including an answer. */
const SEVERAL_MESSAGES = /^\s*\{(?=.*["'](?:result|error)["']\s*:).*\}\s*\{/s

type Fields = Readonly<Record<string, unknown>>

/** The messages of one connection. */
export class IncomingMessages {
  /** Negotiated protocol version; undefined before. */
  protocolVersion: string | undefined
  /** Methods of the requests without an answer, by id. */
  readonly #open = new Map<RequestId, string>()
  #highestId = -1
  /** Number of answers that name no request, since a request was last answered by one. */
  #unnamed = 0
  readonly #isContentBlock: IsContentBlock

  /** @param isContentBlock - the check of the SDK, which this module does not load */
  constructor(isContentBlock: IsContentBlock) {
    this.#isContentBlock = isContentBlock
  }

  /** Whether any request has no answer yet. */
  get isWaiting(): boolean {
    return this.#open.size > 0
  }

  /** Records a message that is sent. */
  sent(message: unknown): void {
    for (const one of Array.isArray(message) ? message : [message]) this.#sentOne(one)
  }

  #sentOne(message: unknown): void {
    if (!isJsonObject(message)) return
    const { id, method, params } = message
    if (typeof method !== 'string') return
    if (isId(id)) {
      this.#open.set(id, method)
      if (typeof id === 'number') this.#highestId = Math.max(this.#highestId, id)
      return
    }
    const isCancel = method === 'notifications/cancelled' && isJsonObject(params)
    if (isCancel && isId(params['requestId'])) this.#close(params['requestId'])
  }

  /** Records that a message was not delivered. */
  notSent(message: unknown): void {
    const id = fieldOf(message, 'id')
    if (isId(id)) this.#close(id)
  }

  /** Whether a request has no answer yet. */
  isOpen(id: RequestId): boolean {
    return this.#open.has(id)
  }

  /**
   * Returns the messages in a text.
   *
   * @param only - the request of the exchange in which the text arrived; undefined on a shared channel
   */
  read(text: string, only?: RequestId): readonly JSONRPCMessage[] {
    const excess = findJsonExcess(text, MESSAGE_LIMITS)
    if (excess !== undefined) {
      const isAnswerText = /["'](?:result|error)["']/.test(text)
      return isAnswerText
        ? this.fail(this.#findOpenId(text), `cannot be read: it ${excess}`, only)
        : []
    }
    const parsed = parse(text)
    if (parsed !== undefined) {
      const { value, problem } = parsed
      if (problem === undefined || !isJsonObject(value) || !isAnswer(value) || 'method' in value) {
        return this.#readValue(value, only)
      }
      return this.fail(fieldOf(value, 'id'), `cannot be read: ${problem}`, only)
    }
    // Not JSON: an answer that was cut off or written by hand, several messages in one line, or a log entry.
    const isMessage = /["']jsonrpc["']/.test(text)
    const isOfServer = /["']method["']/.test(text) && !SEVERAL_MESSAGES.test(text)
    if (!isMessage || isOfServer) return []
    return this.fail(findId(text), `is not valid JSON: ${preview(text)}`, only)
  }

  /** Returns the first id of an open request in a text that is not parsed. */
  #findOpenId(text: string): unknown {
    for (const [, number, name] of text.matchAll(ID)) {
      const id = number === undefined ? name : Number(number)
      if (this.#find(id) !== undefined) return id
    }
    return undefined
  }

  /** Ends a request, or the one that an answer without a usable id belongs to, with a reason. */
  fail(id: unknown, problem: string, only?: RequestId): readonly JSONRPCMessage[] {
    const named = this.#find(id) ?? only
    if (named !== undefined) return this.#end(named, problem)
    // An id that was used belongs to a request that has ended, for example a cancelled one.
    const wasUsed = Number.isInteger(id) && Number(id) >= 0 && Number(id) <= this.#highestId
    if (wasUsed) return []
    this.#unnamed += 1
    if (this.#open.size > this.#unnamed) return []
    return [...this.#open.keys()].flatMap((open) => this.#end(open, problem))
  }

  #readValue(value: unknown, only: RequestId | undefined): readonly JSONRPCMessage[] {
    if (Array.isArray(value)) return this.#readBatch(value, only)
    if (!isJsonObject(value)) return []
    if ('method' in value && !('result' in value) && !('error' in value)) return toMessage(value)
    if (!isAnswer(value)) return []
    return this.#readAnswer(value, only)
  }

  #readBatch(batch: readonly unknown[], only: RequestId | undefined): readonly JSONRPCMessage[] {
    if (this.protocolVersion === VERSION_WITH_BATCHES) {
      return batch.flatMap((one) => (Array.isArray(one) ? [] : this.#readValue(one, only)))
    }
    return batch
      .filter((one) => isJsonObject(one) && isAnswer(one))
      .flatMap((one) => this.fail(fieldOf(one, 'id'), `is in a batch: ${preview(batch)}`, only))
  }

  #readAnswer(answer: Fields, only: RequestId | undefined): readonly JSONRPCMessage[] {
    const id = this.#find(answer['id'])
    const problem = id === undefined ? 'has no id of an open request' : findProblem(answer)
    if (id === undefined || problem !== undefined) {
      const reason = `${problem}: ${preview(answer)}`
      return this.fail(answer['id'], reason, only)
    }
    const { result, error } = answer
    if (isJsonObject(error)) {
      this.#close(id)
      return toMessage({ jsonrpc: '2.0', id, error })
    }
    const adapted = adaptResult(asFields(result), {
      method: this.#open.get(id) ?? '',
      isContentBlock: this.#isContentBlock,
    })
    if (!adapted.ok) return this.#end(id, `${adapted.problem}: ${preview(result)}`)
    this.#close(id)
    return toMessage({ jsonrpc: '2.0', id, result: adapted.result })
  }

  /** Returns the open request with an id, which may be the text of a number. */
  #find(id: unknown): RequestId | undefined {
    if (isId(id) && this.#open.has(id)) return id
    const number = typeof id === 'string' && /^\d{1,15}$/.test(id) ? Number(id) : undefined
    return number !== undefined && this.#open.has(number) ? number : undefined
  }

  #end(id: RequestId, problem: string): readonly JSONRPCMessage[] {
    const method = this.#open.get(id)
    this.#close(id)
    return [failedAnswer(id, `the answer to ${method ?? 'a request'} ${problem}`)]
  }

  #close(id: RequestId): void {
    this.#open.delete(id)
    if (this.#open.size === 0) this.#unnamed = 0
  }
}

function parse(text: string): ReturnType<typeof parseMarked> | undefined {
  try {
    return parseMarked(text)
  } catch {
    return undefined
  }
}

/** Matches an id in a text that is not parsed. */
const ID = /["']id["']\s*:\s*(?:(\d{1,15})\b|["']([^"'\\]{1,200})["'])/g

/** Returns the first id in a text that is not JSON. */
function findId(text: string): unknown {
  const [[, number, name] = []] = text.matchAll(ID)
  return number === undefined ? name : Number(number)
}

function isAnswer(value: Fields): boolean {
  const fields = Object.keys(value)
  return (
    fields.length > 0 && ('jsonrpc' in value || fields.every((field) => ANSWER_FIELDS.has(field)))
  )
}

/** Returns the reason why an answer cannot be used; undefined if it can. */
function findProblem(answer: Fields): string | undefined {
  const { jsonrpc, method, result, error } = answer
  const hasError = error !== undefined && error !== null
  const hasResult = result !== undefined && !(result === null && hasError)
  if (jsonrpc !== '2.0') return 'must have "jsonrpc": "2.0"'
  if (method !== undefined) return 'must not have a method'
  if (hasError && hasResult) return 'has both a result and an error'
  if (hasError) {
    const { code, message } = asFields(error)
    const isValid = Number.isSafeInteger(code) && typeof message === 'string'
    return isValid ? undefined : 'must have an error with an integer code and a message'
  }
  if (result === undefined) return 'has neither a result nor an error'
  return isJsonObject(result) ? undefined : 'must have a result that is an object'
}

function toMessage(value: Fields): readonly JSONRPCMessage[] {
  // NOTE: answers were checked; the SDK checks requests and notifications, and drops those that it cannot read.
  return [value as unknown as JSONRPCMessage]
}

function asFields(value: unknown): Fields {
  return isJsonObject(value) ? value : {}
}

function fieldOf(value: unknown, field: string): unknown {
  return asFields(value)[field]
}

function isId(value: unknown): value is RequestId {
  return typeof value === 'string' || typeof value === 'number'
}
