/** Reader of the input of a text tool: one string, in any form in which models wrap it. */
import Type from 'typebox'
import { decode } from '@tutti/protocol'
import { formatExactJson, type Decoded, isJsonObject } from '@tutti/protocol/internal'

import type { ValueReader } from './input-reader.ts'

/** Schema of every text tool: one required string named `input`. */
export const TextToolInput = Type.Object({ input: Type.String() })

/** Schema of the text itself. */
export const BareText = Type.String()

/**
 * Reads the field `input`, or the string itself; any other value becomes its JSON text. A missing or null value is a
 * problem, as for typed tools.
 */
export const textReader: ValueReader<string> = {
  jsonSchema: TextToolInput,
  read(value) {
    if (isJsonObject(value)) return readField(value)
    return isScalar(value) ? { ok: true, value: toText(value) } : decode(BareText, value)
  },
}

function readField(value: object): Decoded<string> {
  const input: unknown = Reflect.get(value, 'input')
  if (input !== undefined && input !== null) return { ok: true, value: toText(input) }
  const decoded = decode(TextToolInput, value)
  return decoded.ok ? { ok: true, value: decoded.value.input } : decoded
}

function toText(value: unknown): string {
  return typeof value === 'string' ? value : (formatExactJson(value) ?? '')
}

function isScalar(value: unknown): boolean {
  return ['string', 'number', 'bigint', 'boolean'].includes(typeof value)
}
