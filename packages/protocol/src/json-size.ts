/**
 * Size of JSON text, measured in one cheap pass before it is parsed.
 *
 * The time that parsing, checking, copying and storing a value takes grows with its number of fields and items, and only
 * little with its bytes: a text of a megabyte is one value. A text with more entries than its limit is refused before any of
 * that work begins.
 */

/** Limits of JSON text. */
export interface JsonLimits {
  /** Maximum number of fields and items, at all levels together. */
  readonly maxEntries: number
  /** Maximum nesting of objects and lists. */
  readonly maxDepth: number
}

/** Size of JSON text. Of text that is not valid JSON it is an estimate. */
export interface JsonSize {
  /** Number of fields and items, at all levels together. */
  readonly entries: number
  /** Nesting of objects and lists; 0 for a scalar. */
  readonly depth: number
}

/** Limits of request bodies and WebSocket messages. Their values are checked, copied, stored and sent to readers. */
export const BODY_LIMITS: JsonLimits = { maxEntries: 10_000, maxDepth: 128 }

/** Limits of the JSON of models, tools and other services: enough for a table of 5,000 rows with 8 columns. */
export const VALUE_LIMITS: JsonLimits = { maxEntries: 50_000, maxDepth: 1_000 }

/** Returns which limit a text exceeds, for a message after its subject; undefined when it is within both. */
export function findJsonExcess(text: string, limits: JsonLimits): string | undefined {
  const { maxEntries, maxDepth } = limits
  // Each entry and each level takes at least one character.
  if (text.length <= maxEntries && text.length <= maxDepth) return undefined
  const { entries, depth } = measureJson(text)
  if (depth > maxDepth) return `must be nested at most ${maxDepth} deep, got ${depth}`
  if (entries > maxEntries) {
    return `must have at most ${maxEntries} fields and items, got ${entries}`
  }
  return undefined
}

const [QUOTE, BACKSLASH, COMMA, OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT, SPACE] = [
  0x22, 0x5c, 0x2c, 0x5b, 0x5d, 0x7b, 0x7d, 0x20,
]

/** Returns the size of JSON text. */
export function measureJson(text: string): JsonSize {
  let entries = 0
  let depth = 0
  let most = 0
  // Whether an object or list has begun and nothing has followed yet.
  let isOpen = false
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (code <= SPACE) continue
    const isClosing = code === CLOSE_LIST || code === CLOSE_OBJECT
    if (isOpen && !isClosing) entries += 1
    isOpen = code === OPEN_LIST || code === OPEN_OBJECT
    if (isOpen) {
      depth += 1
      if (depth > most) most = depth
    } else if (isClosing) depth -= 1
    else if (code === COMMA) entries += 1
    else if (code === QUOTE) at = findStringEnd(text, at)
  }
  return { entries, depth: most }
}

/** Returns the index of the closing quote of a JSON text, or the end of the text. */
export function findStringEnd(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at !== -1; at = text.indexOf('"', at + 1)) {
    let escapes = 0
    while (text.charCodeAt(at - 1 - escapes) === BACKSLASH) escapes += 1
    if (escapes % 2 === 0) return at
  }
  return text.length
}
