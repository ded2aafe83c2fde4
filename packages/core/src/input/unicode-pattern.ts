/**
 * Reads regular expressions of schemas. JSON Schema reads them with the flag `u`, which refuses some escapes of
 * JavaScript and other languages, such as `\_`. They are rewritten to the same expression with the flag.
 */
import { isJsonObject } from '@tutti/protocol/internal'

/**
 * Returns the expression in a form that the flag `u` accepts; undefined when it is not a regular expression of
 * JavaScript, or has no such form.
 */
export function toUnicodePattern(pattern: string): string | undefined {
  if (compiles(pattern, 'u')) return pattern
  if (!compiles(pattern, '')) return undefined
  const rewritten = rewritePattern(pattern)
  return compiles(rewritten, 'u') ? rewritten : undefined
}

function compiles(pattern: string, flags: string): boolean {
  try {
    RegExp(pattern, flags)
    return true
  } catch {
    return false
  }
}

/** Characters that an escape may stand for with the flag `u`. */
const SYNTAX: ReadonlySet<string> = new Set('^$\\.*+?()[]{}|/')

/** A set of characters, such as `\w`. */
const SET = /^\\[dswDSW]$/

/** Maximum number of characters of a count such as `{2,5}`. */
const MAX_COUNT = 40

/** One escape, or a character between escapes. */
const PART = /\\[^]|[^]/g

/** Removes escapes that mean nothing, and escapes the characters that the flag `u` accepts only escaped. */
function rewritePattern(pattern: string): string {
  let isInClass = false
  let previous = ''
  let result = ''
  for (const { 0: part, index } of pattern.matchAll(PART)) {
    let next = part
    const after = index + part.length
    if (part.length > 1) {
      const escaped = part.slice(1)
      // A letter or digit after a backslash may have a meaning.
      const isNeedless = !SYNTAX.has(escaped) && !/[\w-]/.test(escaped)
      if (isNeedless || escaped === '_' || (escaped === '-' && !isInClass)) next = escaped
    } else if (isInClass) {
      if (part === ']') isInClass = false
      else if (part === '-' && isSet(previous, pattern.slice(after, after + 2))) next = '\\-'
    } else if (part === '[') isInClass = true
    else if (part === '{' && !/^\{\d+(,\d*)?\}/.test(pattern.slice(index, index + MAX_COUNT))) {
      next = '\\{'
    } else if (
      part === '}' &&
      !/\{\d+(,\d*)?$/.test(pattern.slice(Math.max(0, index - MAX_COUNT), index))
    )
      next = '\\}'
    else if (part === ']') next = '\\]'
    result += next
    previous = part
  }
  return result
}

/** Returns whether a hyphen in a class is next to a set such as `\w`, and so does not make a range. */
function isSet(before: string, after: string): boolean {
  return SET.test(before) || SET.test(after)
}

/** Returns the schema with expressions that the flag `u` accepts; the same object when it has no others. */
export function withUnicodePatterns<Schema>(schema: Schema): Schema {
  try {
    // NOTE: only texts of `pattern` and names in `patternProperties` change.
    return rewriteNode(schema, new Map()) as Schema
  } catch (error) {
    // The compiler reports a schema that is nested deeper than the stack.
    if (error instanceof RangeError) return schema
    throw error
  }
}

function rewriteNode(node: unknown, known: Map<unknown, unknown>): unknown {
  if (typeof node !== 'object' || node === null) return node
  if (known.has(node)) return known.get(node)
  // A schema that contains itself is refused later.
  known.set(node, node)
  const result = Array.isArray(node) ? rewriteList(node, known) : rewriteFields(node, known)
  known.set(node, result)
  return result
}

function rewriteList(list: readonly unknown[], known: Map<unknown, unknown>): readonly unknown[] {
  const parts = list.map((part) => rewriteNode(part, known))
  return parts.some((part, index) => part !== list[index]) ? parts : list
}

/** Keywords whose values are not schemas. */
const VALUES: ReadonlySet<string> = new Set(['const', 'default', 'enum', 'example', 'examples'])

function rewriteFields(node: object, known: Map<unknown, unknown>): object {
  const entries = Object.entries(node).map(([keyword, value]: [string, unknown]) => {
    if (VALUES.has(keyword)) return [keyword, value] as const
    if (keyword === 'pattern' && typeof value === 'string') {
      return [keyword, toUnicodePattern(value) ?? value] as const
    }
    const part = rewriteNode(value, known)
    if (keyword !== 'patternProperties' || !isJsonObject(part)) return [keyword, part] as const
    return [keyword, rewriteNames(part)] as const
  })
  const isSame = entries.every(([keyword, value]) => Reflect.get(node, keyword) === value)
  if (isSame) return node
  // Hidden properties mark the schemas of TypeBox.
  const copy: object = Object.create(
    Object.getPrototypeOf(node),
    Object.getOwnPropertyDescriptors(node),
  )
  for (const [keyword, value] of entries) {
    Object.defineProperty(copy, keyword, {
      value,
      enumerable: true,
      configurable: true,
      writable: true,
    })
  }
  return copy
}

function rewriteNames(schemas: Readonly<Record<string, unknown>>): object {
  const names = Object.keys(schemas).map((name) => [name, toUnicodePattern(name) ?? name] as const)
  if (names.every(([name, next]) => name === next)) return schemas
  return Object.fromEntries(names.map(([name, next]) => [next, schemas[name]]))
}
