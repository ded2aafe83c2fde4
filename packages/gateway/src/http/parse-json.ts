/** Pure: parses the JSON of request bodies. */
import { errorMessage, type Problem } from '@tutti/core'

/**
 * Maximum nesting: far more than the protocol needs, and far less than the stack depth of code that traverses the
 * value.
 */
export const MAX_BODY_DEPTH = 128

/** A value, or the problem with the text. */
export type ParsedJson =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly problem: Problem }

/** Parses JSON in UTF-8. */
export function parseJsonBytes(bytes: Uint8Array): ParsedJson {
  if (isDeep(bytes)) return refuse(`must be nested at most ${MAX_BODY_DEPTH} deep`)
  try {
    return { ok: true, value: JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)) }
  } catch (error) {
    return refuse(`must be JSON in UTF-8 (${errorMessage(error)})`)
  }
}

function refuse(message: string): ParsedJson {
  return { ok: false, problem: { path: '', message } }
}

const [QUOTE, BACKSLASH, OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [
  0x22, 0x5c, 0x5b, 0x5d, 0x7b, 0x7d,
]

/** Whether the nesting exceeds the maximum. Bytes of multi-byte characters in UTF-8 are never ASCII. */
function isDeep(bytes: Uint8Array): boolean {
  let depth = 0
  let inString = false
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at]
    if (inString) {
      if (byte === BACKSLASH) at += 1
      else if (byte === QUOTE) inString = false
    } else if (byte === QUOTE) inString = true
    else if (byte === OPEN_LIST || byte === OPEN_OBJECT) {
      depth += 1
      if (depth > MAX_BODY_DEPTH) return true
    } else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) depth -= 1
  }
  return false
}
