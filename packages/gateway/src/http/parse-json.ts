/**
 * Pure: parses the JSON of request bodies, of WebSocket messages and of the protocols of other systems.
 *
 * GW-N20 A body has no integer that a JavaScript number cannot hold: it would be stored, compared and forwarded with other
 *    digits. It is refused with its path and digits. Ids of 64 bits are sent as text, which tools accept for them.
 * GW-N22 A body has at most 10,000 fields and items, and 128 levels, so that no work on it takes long. More is refused before
 *    it is parsed, with the number.
 * GW-N21 Limits of numbers in the JSON Schemas of a body (`"maximum": 9223372036854775807`) are rounded instead, because
 *    schema generators write the limits of their integer types.
 */
import {
  errorMessage,
  findBigInt,
  hasBigInt,
  isJsonObject,
  parseExactJson,
  toPlainJson,
  type Problem,
} from '@tutti/core/internal'
import { BODY_LIMITS, findJsonExcess } from '@tutti/protocol/internal'

/** A value, or the problem with the text. */
export type ParsedJson =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly problem: Problem }

/** Parses JSON in UTF-8. */
export function parseJsonBytes(bytes: Uint8Array): ParsedJson {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    const excess = findJsonExcess(text, BODY_LIMITS)
    return excess === undefined ? readPlainNumbers(parseExactJson(text)) : refuse(excess)
  } catch (error) {
    if (error instanceof RangeError) return refuse(errorMessage(error))
    return refuse(`must be JSON in UTF-8 (${errorMessage(error)})`)
  }
}

/** Applies GW-N20 and GW-N21. */
function readPlainNumbers(value: unknown): ParsedJson {
  if (!hasBigInt(value)) return { ok: true, value }
  const plain = roundLimits(value)
  const found = findBigInt(plain)
  if (found === undefined) return { ok: true, value: plain }
  const { path, integer } = found
  const { MIN_SAFE_INTEGER: least, MAX_SAFE_INTEGER: most } = Number
  const message = `must be between ${least} and ${most} as a number, got ${integer}; send it as text`
  return { ok: false, problem: { path, message, received: String(integer) } }
}

/** Keywords of JSON Schema with a number. */
const LIMITS: ReadonlySet<string> = new Set([
  'exclusiveMaximum',
  'exclusiveMinimum',
  'maximum',
  'minimum',
])

/** Returns a copy with a number for each integer that a number holds exactly, and for limits of schemas. */
function roundLimits(value: unknown): unknown {
  if (typeof value === 'bigint') return isExact(value) ? Number(value) : value
  if (Array.isArray(value)) return value.map(roundLimits)
  if (!isJsonObject(value)) return value
  const isNumeric = [value['type']].flat().some((type) => type === 'integer' || type === 'number')
  const entries = Object.entries(value).map(([key, part]): [string, unknown] =>
    isNumeric && typeof part === 'bigint' && LIMITS.has(key)
      ? [key, Number(part)]
      : [key, roundLimits(part)],
  )
  return Object.fromEntries(entries)
}

function isExact(integer: bigint): boolean {
  return typeof toPlainJson(integer) === 'number'
}

function refuse(message: string): ParsedJson {
  return { ok: false, problem: { path: '', message } }
}
