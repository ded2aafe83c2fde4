/**
 * Parses JSON (RFC 8259). Unlike `JSON.parse`, it reports the position of every error, keeps the digits of numbers, and
 * keeps the order of keys that look like numbers.
 *
 * TOOLS-J1 It accepts the same texts as `JSON.parse`, except that nesting is limited.
 * TOOLS-J2 An error states what was expected and the position, line and column, counted from 1.
 */
import { JsonError } from './json-error.ts'

import type { JsonValue } from './json-value.ts'

/** Maximum number of nested arrays and objects. */
export const MAX_JSON_DEPTH = 500

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const WORD = /true|false|null/y
const ESCAPE = /\\(?:["\\/bfnrt]|u[\dA-Fa-f]{4})/y
const WORDS: Readonly<Record<string, boolean | null>> = { true: true, false: false, null: null }
const [QUOTE, BACKSLASH, FIRST_PRINTABLE] = [0x22, 0x5c, 0x20]

/**
 * Parses a JSON text. The last value of a duplicate key counts.
 *
 * @throws {JsonError} when the text is not JSON or is nested too deeply.
 */
export function parseJsonText(text: string): JsonValue {
  return new JsonReader(text).document()
}

class JsonReader {
  readonly #text: string
  #at = 0
  #depth = 0

  constructor(text: string) {
    this.#text = text
  }

  document(): JsonValue {
    const value = this.#value()
    if (this.#at < this.#text.length) throw this.#expected('the end')
    return value
  }

  /** Reads a value and the white space around it. */
  #value(): JsonValue {
    this.#skipSpace()
    const value = this.#bareValue()
    this.#skipSpace()
    return value
  }

  #bareValue(): JsonValue {
    const first = this.#text[this.#at]
    if (first === '"') return this.#string()
    if (first === '{') return this.#nested(() => this.#object())
    if (first === '[') return this.#nested(() => this.#array())
    const digits = this.#take(NUMBER)
    if (digits !== '') return { digits }
    const value = WORDS[this.#take(WORD)]
    if (value === undefined) throw this.#expected('a value')
    return value
  }

  #nested<T>(read: () => T): T {
    this.#depth += 1
    if (this.#depth > MAX_JSON_DEPTH) {
      throw new JsonError(
        `Invalid JSON: nested deeper than ${MAX_JSON_DEPTH} levels ${this.#position()}`,
      )
    }
    this.#at += 1
    const value = read()
    this.#depth -= 1
    return value
  }

  #array(): readonly JsonValue[] {
    const items: JsonValue[] = []
    this.#skipSpace()
    if (this.#skip(']')) return items
    do items.push(this.#value())
    while (this.#skip(','))
    if (!this.#skip(']')) throw this.#expected('"," or "]"')
    return items
  }

  #object(): ReadonlyMap<string, JsonValue> {
    const members = new Map<string, JsonValue>()
    this.#skipSpace()
    if (this.#skip('}')) return members
    do {
      this.#skipSpace()
      if (this.#text[this.#at] !== '"') throw this.#expected('a key in double quotes')
      const key = this.#string()
      this.#skipSpace()
      if (!this.#skip(':')) throw this.#expected('":"')
      members.set(key, this.#value())
    } while (this.#skip(','))
    if (!this.#skip('}')) throw this.#expected('"," or "}"')
    return members
  }

  #string(): string {
    const start = this.#at
    let escapes = false
    this.#at += 1
    for (;;) {
      const code = this.#text.charCodeAt(this.#at)
      if (code === QUOTE) break
      if (code === BACKSLASH) {
        escapes = true
        if (this.#take(ESCAPE) === '') throw this.#expected('a valid escape, such as \\n')
      } else if (code >= FIRST_PRINTABLE) {
        this.#at += 1
      } else {
        throw this.#expected('the rest of a string and its closing quote')
      }
    }
    this.#at += 1
    const source = this.#text.slice(start, this.#at)
    // NOTE: the source is a complete JSON string, so the result is a string.
    return escapes ? (JSON.parse(source) as string) : source.slice(1, -1)
  }

  #skipSpace(): void {
    while (isSpace(this.#text.charCodeAt(this.#at))) this.#at += 1
  }

  #skip(sign: string): boolean {
    if (this.#text[this.#at] !== sign) return false
    this.#at += 1
    return true
  }

  #take(pattern: RegExp): string {
    pattern.lastIndex = this.#at
    const found = pattern.exec(this.#text)?.[0] ?? ''
    this.#at += found.length
    return found
  }

  #expected(what: string): JsonError {
    const character = String.fromCodePoint(this.#text.codePointAt(this.#at) ?? 0)
    const got = this.#at === this.#text.length ? 'the end' : JSON.stringify(character)
    return new JsonError(`Invalid JSON: expected ${what} ${this.#position()}, got ${got}`)
  }

  #position(): string {
    const lines = this.#text.slice(0, this.#at).split('\n')
    const column = (lines.at(-1)?.length ?? 0) + 1
    return `at position ${this.#at + 1} (line ${lines.length}, column ${column})`
  }
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09
}
