/**
 * What an MCP tool asks while it works (elicitation): the question in words, and from an answer to what the
 * server is told. Pure.
 *
 * E1 An answer in words goes to the one property it can be meant for, as its type; several are answered with
 *    JSON. One that fits nothing is asked for again.
 * E2 A question that asks for no value is answered with yes or no.
 * E3 The question itself, as a conversation with nobody to ask gives it back, is no answer: it declines.
 */
import { isObject, jsonObject, placeFor, propertiesOf, schemaOf } from './tool-arguments.ts'

import type { ElicitRequestFormParams, ElicitResult } from '@modelcontextprotocol/client'

/** What is asked for: a form. */
export type ElicitedForm = Pick<ElicitRequestFormParams, 'message' | 'requestedSchema'>

/** What the server is told. */
export type Elicited = Pick<ElicitResult, 'action' | 'content'>

/** The question for whoever answers in words. */
export function questionOf({ message, requestedSchema }: ElicitedForm): string {
  const names = Object.keys(propertiesOf(requestedSchema))
  if (names.length === 0) return `${message}\nAnswer yes or no`
  const [only] = names
  const isText =
    names.length === 1 && only !== undefined && isPlainText(schemaOf(requestedSchema, only))
  if (isText) return message
  return `${message}\nAnswer with JSON that fits ${JSON.stringify(requestedSchema)}`
}

/** What the server is told for an answer; undefined when it is none. */
export function elicitedBy(answer: unknown, form: ElicitedForm): Elicited | undefined {
  if (answer === null || isQuestion(answer, form)) return { action: 'decline' }
  const { requestedSchema } = form
  if (isObject(answer)) return byObject(answer, form)
  const word = typeof answer === 'string' ? answer.trim().toLowerCase() : answer
  if (Object.keys(propertiesOf(requestedSchema)).length === 0) return WORDS.get(word)
  const read = typeof answer === 'string' ? jsonObject(answer) : undefined
  if (read !== undefined) return byObject(read, form)
  const place = placeFor(requestedSchema)
  if (place !== undefined) {
    const value = valueFor(answer, schemaOf(requestedSchema, place))
    return value === undefined ? undefined : { action: 'accept', content: { [place]: value } }
  }
  return word === 'decline' || word === 'cancel' ? { action: word } : undefined
}

/** What the server is told of values that fit its form. */
export function accepted(values: unknown): Elicited {
  // NOTE: the schema of a form has properties of these types alone.
  return { action: 'accept', content: values as NonNullable<ElicitResult['content']> }
}

const WORDS: ReadonlyMap<unknown, Elicited> = new Map<unknown, Elicited>([
  ...['yes', 'y', 'true', true, 'ok', 'accept'].map((word) => [word, accepted({})] as const),
  ...['no', 'n', 'false', false, 'decline'].map((word) => [word, told('decline')] as const),
  ['cancel', told('cancel')],
])

function told(action: Elicited['action']): Elicited {
  return { action }
}

/** An object is the values, or in so many words what the server is to be told. */
function byObject(
  answer: Readonly<Record<string, unknown>>,
  { requestedSchema }: ElicitedForm,
): Elicited {
  const { action, content } = answer
  const isOwn = !('action' in propertiesOf(requestedSchema))
  if (isOwn && (action === 'decline' || action === 'cancel')) return { action }
  if (isOwn && action === 'accept') return accepted(isObject(content) ? content : {})
  return accepted(answer)
}

function isQuestion(answer: unknown, { requestedSchema }: ElicitedForm): boolean {
  return isObject(answer) && answer['requestedSchema'] === requestedSchema
}

function isPlainText(schema: Readonly<Record<string, unknown>>): boolean {
  return schema['type'] === 'string' && !('enum' in schema || 'oneOf' in schema)
}

type Scalar = string | number | boolean | string[]

function valueFor(
  answer: unknown,
  { type }: Readonly<Record<string, unknown>>,
): Scalar | undefined {
  const text = typeof answer === 'string' ? answer.trim() : undefined
  switch (type) {
    case 'boolean': {
      const said = WORDS.get(text?.toLowerCase() ?? answer)
      return said === undefined || said.action === 'cancel' ? undefined : said.action === 'accept'
    }
    case 'number':
    case 'integer': {
      const number = text === undefined || text === '' ? answer : Number(text)
      const fits = type === 'integer' ? Number.isInteger(number) : Number.isFinite(number)
      return fits && typeof number === 'number' ? number : undefined
    }
    case 'array':
      return textsOf(answer)
    default:
      // What is no text is taken as it would be written.
      return typeof answer === 'string' ? answer : JSON.stringify(answer)
  }
}

function textsOf(answer: unknown): string[] | undefined {
  const items: unknown[] = Array.isArray(answer) ? answer : [answer]
  return items.every((item) => typeof item === 'string') ? items : undefined
}
