/**
 * Finds errors that a service reports inside an answer with status 200. Services use many forms:
 *
 *   event: error · {"error": {…}} · {"error": "…"} · {"type": "error"} · {"object": "error"} ·
 *   {"choices": [{"error": {…}}]} · {"code": 500, "message": "…"} · {"detail": "…"} · {"base_resp": {…}}
 *
 * LC-W1 Such an error is transient like the HTTP status that it names. One that names no status is transient unless its
 *    type or code says that the request is at fault.
 */
import { readField, readObject, readObjects, readNonEmpty, type Json } from '../json.ts'

/** An error that a service sent inside an answer. */
export class StreamError extends Error {
  override readonly name = 'StreamError'
  /** HTTP status that the error names. */
  readonly status: number | undefined
  readonly type: string | undefined
  readonly code: string | undefined
  /** Whether a retry may help. */
  readonly retryable: boolean

  constructor(message: string, facts: ErrorFacts = {}) {
    super(message)
    this.status = facts.status
    this.type = facts.type
    this.code = facts.code
    this.retryable = isTransient(facts)
  }
}

/** Details of an error. */
export interface ErrorFacts {
  readonly status?: number | undefined
  readonly type?: string | undefined
  readonly code?: string | undefined
}

/** Types and codes of errors that a retry does not remove. */
const PERMANENT =
  /invalid|authenti|unauthori|permission|forbidden|not.?found|unsupported|quota|billing|credit|balance|context.?length|too.?(?:long|large)|bad.?request|policy|filter/i

/** Maximum length of an unreadable line in a message. */
const MAX_SHOWN = 500

function isTransient({ status, type = '', code = '' }: ErrorFacts): boolean {
  if (/quota/i.test(type) || /quota/i.test(code)) return false
  if (status !== undefined) {
    return status >= 500 || status === 408 || status === 409 || status === 429
  }
  return !PERMANENT.test(type) && !PERMANENT.test(code)
}

/** Returns the error in an event; undefined when it is a part of an answer. */
export function findError(event: Json, name: string): StreamError | undefined {
  const error = Array.isArray(event['error']) ? event['error'][0] : event['error']
  if (readObject(error) !== undefined && Object.keys(Object(error)).length > 0) {
    return toStreamError(error, event)
  }
  if (readNonEmpty(error) !== undefined) return toStreamError({ message: error }, event)
  if (error === true) return toStreamError(event, event)
  if (name === 'error' || event['type'] === 'error' || event['object'] === 'error') {
    return toStreamError(event, event)
  }
  const [choice] = readObjects(event['choices'])
  const nested = [readField(choice, 'error'), readField(event['response'], 'error')]
  for (const value of nested)
    if (readObject(value) !== undefined) return toStreamError(value, event)
  const state = readObject(event['base_resp'])
  if (typeof state?.['status_code'] === 'number' && state['status_code'] !== 0) {
    return toStreamError({ message: state['status_msg'], code: state['status_code'] }, event)
  }
  return isBareError(event) ? toStreamError(event, event) : undefined
}

/** Returns the error for a line of data that is not JSON, such as the text of a proxy. */
export function createLineError(text: string): StreamError {
  const shown = text.length <= MAX_SHOWN ? text : `${text.slice(0, MAX_SHOWN)}…`
  return new StreamError(`the stream has a line that is not JSON: ${shown}`)
}

/** Returns whether an event has only the fields of an error, without an answer. */
function isBareError(event: Json): boolean {
  if (['choices', 'usage', 'type', 'candidates', 'content'].some((key) => Boolean(event[key]))) {
    return false
  }
  const said =
    readNonEmpty(event['message']) ?? readNonEmpty(event['detail']) ?? readNonEmpty(event['msg'])
  return said !== undefined && ['code', 'status', 'detail', 'msg'].some((key) => key in event)
}

/** `context` is the event around the error, which may have the code. */
function toStreamError(error: unknown, context: Json): StreamError {
  const facts = {
    status: firstStatus([
      readField(error, 'code'),
      readField(error, 'status'),
      readField(error, 'status_code'),
      readField(error, 'http_code'),
      context['code'],
      context['status'],
      context['status_code'],
    ]),
    type: readWord(readField(error, 'type'), 'error'),
    code: readWord(readField(error, 'code')) ?? readWord(readField(error, 'status')),
  }
  const message =
    readNonEmpty(readField(error, 'message')) ??
    readNonEmpty(readField(error, 'detail')) ??
    readNonEmpty(readField(error, 'msg')) ??
    readNonEmpty(context['message']) ??
    facts.type ??
    facts.code ??
    JSON.stringify(error)
  return new StreamError(message.slice(0, MAX_SHOWN), facts)
}

function readWord(value: unknown, general?: string): string | undefined {
  const word = readNonEmpty(value)
  return word === general || /^\d+$/.test(word ?? '') ? undefined : word
}

/** Returns the first value that is an HTTP status of an error, as a number or as text. */
function firstStatus(values: readonly unknown[]): number | undefined {
  return values
    .map((value) => (typeof value === 'string' && /^\d{3}$/.test(value) ? Number(value) : value))
    .find((value): value is number => typeof value === 'number' && isErrorStatus(value))
}

function isErrorStatus(value: number): boolean {
  return Number.isInteger(value) && value >= 400 && value <= 599
}
