/**
 * Converts questions of MCP tools (elicitation) to text, and text answers to values for the server. Pure.
 *
 * AGENT-E1 A text answer becomes the value of the only property that accepts it, with its type; a question for several
 *    properties is answered with JSON. An invalid answer is requested again.
 * AGENT-E2 A question without properties is answered with yes or no.
 * AGENT-E3 The question itself, which a conversation without a reviewer returns, declines.
 */
import { isJsonObject } from '@tutti/protocol/internal'
import { acceptForm } from '@tutti/mcp/internal'

import {
  parseJsonObject,
  findTextArgument,
  schemaProperties,
  propertySchema,
} from './tool-arguments.ts'

import type { McpForm, McpFormAnswer } from '@tutti/mcp/internal'

/** Returns the question for a text answer. */
export function formatQuestion({ message, requestedSchema }: McpForm): string {
  const names = Object.keys(schemaProperties(requestedSchema))
  if (names.length === 0) return `${message}\nAnswer yes or no`
  const [only] = names
  const isText =
    names.length === 1 && only !== undefined && isPlainText(propertySchema(requestedSchema, only))
  if (isText) return message
  return `${message}\nAnswer with JSON that matches ${JSON.stringify(requestedSchema)}`
}

/** Returns the answer for the server; undefined for an invalid one. */
export function toFormAnswer(answer: unknown, form: McpForm): McpFormAnswer | undefined {
  if (answer === null || isQuestion(answer, form)) return { action: 'decline' }
  const { requestedSchema } = form
  if (isJsonObject(answer)) return readObjectAnswer(answer, form)
  const word = typeof answer === 'string' ? answer.trim().toLowerCase() : answer
  if (Object.keys(schemaProperties(requestedSchema)).length === 0) return WORDS.get(word)
  const read = typeof answer === 'string' ? parseJsonObject(answer) : undefined
  if (read !== undefined) return readObjectAnswer(read, form)
  const argument = findTextArgument(requestedSchema)
  if (argument !== undefined) {
    const value = toPropertyValue(answer, propertySchema(requestedSchema, argument))
    return value === undefined ? undefined : { action: 'accept', content: { [argument]: value } }
  }
  return word === 'decline' || word === 'cancel' ? { action: word } : undefined
}

const DECLINE: McpFormAnswer = { action: 'decline' }

const WORDS: ReadonlyMap<unknown, McpFormAnswer> = new Map<unknown, McpFormAnswer>([
  ...['yes', 'y', 'true', true, 'ok', 'accept'].map((word) => [word, acceptForm({})] as const),
  ...['no', 'n', 'false', false, 'decline'].map((word) => [word, DECLINE] as const),
  ['cancel', { action: 'cancel' }],
])

/** An object is either the values, or the whole answer with its action. */
function readObjectAnswer(
  answer: Readonly<Record<string, unknown>>,
  { requestedSchema }: McpForm,
): McpFormAnswer {
  const { action, content } = answer
  const isOwn = !('action' in schemaProperties(requestedSchema))
  if (isOwn && (action === 'decline' || action === 'cancel')) return { action }
  if (isOwn && action === 'accept') return acceptForm(isJsonObject(content) ? content : {})
  return acceptForm(answer)
}

function isQuestion(answer: unknown, { requestedSchema }: McpForm): boolean {
  return isJsonObject(answer) && answer['requestedSchema'] === requestedSchema
}

function isPlainText(schema: Readonly<Record<string, unknown>>): boolean {
  return schema['type'] === 'string' && !('enum' in schema || 'oneOf' in schema)
}

type Scalar = string | number | boolean | string[]

function toPropertyValue(
  answer: unknown,
  { type }: Readonly<Record<string, unknown>>,
): Scalar | undefined {
  const text = typeof answer === 'string' ? answer.trim() : undefined
  switch (type) {
    case 'boolean': {
      const answered = WORDS.get(text?.toLowerCase() ?? answer)
      return answered === undefined || answered.action === 'cancel'
        ? undefined
        : answered.action === 'accept'
    }
    case 'number':
    case 'integer': {
      const number = text === undefined || text === '' ? answer : Number(text)
      const fits = type === 'integer' ? Number.isInteger(number) : Number.isFinite(number)
      return fits && typeof number === 'number' ? number : undefined
    }
    case 'array':
      return readTexts(answer)
    default:
      // Other values become their JSON text.
      return typeof answer === 'string' ? answer : JSON.stringify(answer)
  }
}

function readTexts(answer: unknown): string[] | undefined {
  const items: unknown[] = Array.isArray(answer) ? answer : [answer]
  return items.every((item) => typeof item === 'string') ? items : undefined
}
