/**
 * Pure: what a message says.
 *
 * JamJet sends the compact JSON of its input as the text: a text comes in quotes, no input as `{}`. Others
 * send the text as it is. JSON is tried first, and what is none is taken as it is.
 */
import type { Part } from './message-schema.ts'

/** A message as it is understood. */
export interface MessageText {
  /** As it was sent: data as JSON, several parts in lines of their own. */
  readonly raw: string
  /** The same, but a JSON string is the text in it, and `{}` and `null` are nothing. */
  readonly text: string
  /** The object of which the message is the JSON. */
  readonly object?: Readonly<Record<string, unknown>>
}

/** Reads the parts of a message. */
export function messageText(parts: readonly Part[]): MessageText {
  const raw = parts.map(({ text, data }) => text ?? JSON.stringify(data)).join('\n')
  const value = jsonOf(raw)
  if (typeof value === 'string') return { raw, text: value }
  if (value === null) return { raw, text: '' }
  if (typeof value !== 'object' || Array.isArray(value)) return { raw, text: raw }
  // NOTE: an object of JSON that is no list has text keys.
  const object = value as Record<string, unknown>
  return { raw, text: Object.keys(object).length === 0 ? '' : raw, object }
}

/** The value that a text is the JSON of; undefined when it is of none. */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
