/**
 * Parses paths into JSON: `a.b[0].c`, `[0].name`, `["a key with . and []"]`, each with an optional `$` at the start. An
 * empty path and `$` select the whole document.
 */
import { JsonError, shorten } from './json-error.ts'

/** One step of a path, to a member or an element. */
export interface JsonStep {
  readonly kind: 'key' | 'index'
  /** The key, or the digits of the index. */
  readonly name: string
  /** End of the step in the path. */
  readonly end: number
}

const ROOT = /\$(?=$|[.[])/y
const KEY = /[^.[\]]+/y
const INDEX = /\[\s*(\d+)\s*\]/y
/** A key in single or double quotes; a backslash escapes the next character. */
const QUOTED = /\[\s*(["'])((?:\\.|(?!\1)[^\\])*)\1\s*\]/sy

/**
 * Returns the steps of a path.
 *
 * @throws {JsonError} naming the position of the error and what was expected there.
 */
export function parseJsonPath(path: string): readonly JsonStep[] {
  const steps: JsonStep[] = []
  let at = match(ROOT, path, 0)?.[0].length ?? 0
  while (at < path.length) {
    const step = parseStep(path, at)
    steps.push(step)
    at = step.end
  }
  return steps
}

function parseStep(path: string, at: number): JsonStep {
  if (path[at] === '[') return parseBracketStep(path, at)
  if (path[at] === '.' && at > 0) return parseKeyStep(path, at + 1)
  if (at === 0) return parseKeyStep(path, at)
  throw invalidPathError(path, at, '"." or "["')
}

function parseKeyStep(path: string, at: number): JsonStep {
  const [name] = match(KEY, path, at) ?? []
  if (name === undefined) throw invalidPathError(path, at, 'a key')
  return { kind: 'key', name, end: at + name.length }
}

function parseBracketStep(path: string, at: number): JsonStep {
  const [index, digits] = match(INDEX, path, at) ?? []
  if (index !== undefined && digits !== undefined) {
    return { kind: 'index', name: digits, end: at + index.length }
  }
  const [quoted, , key] = match(QUOTED, path, at) ?? []
  if (quoted === undefined || key === undefined) {
    throw invalidPathError(path, at, '[n] with n from 0, or ["key"]')
  }
  return { kind: 'key', name: key.replaceAll(/\\(.)/gs, '$1'), end: at + quoted.length }
}

function match(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at
  return pattern.exec(text)
}

function invalidPathError(path: string, at: number, expected: string): JsonError {
  const got = at === path.length ? 'the end' : JSON.stringify(shorten(path.slice(at)))
  return new JsonError(
    `Invalid path: '${shorten(path)}': expected ${expected} at position ${at + 1}, got ${got}`,
  )
}
