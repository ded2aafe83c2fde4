/**
 * Paths into JSON: `a.b[0].c`, `[0].name`, `["a key with . and []"]`, each with `$` before it if one
 * likes. Nothing, or `$` alone, is the whole.
 */
import { JsonError, startOf } from './json-error.ts'

/** One step of a path: to a member or an element. */
export interface JsonStep {
  readonly kind: 'key' | 'index'
  /** The key, or the digits of the index. */
  readonly name: string
  /** Where the step ends in the path. */
  readonly end: number
}

const ROOT = /\$(?=$|[.[])/y
const KEY = /[^.[\]]+/y
const INDEX = /\[\s*(\d+)\s*\]/y
/** A key in quotes of either kind; a backslash takes the next character as it is. */
const QUOTED = /\[\s*(["'])((?:\\.|(?!\1)[^\\])*)\1\s*\]/sy

/**
 * The steps of a path.
 *
 * @throws {JsonError} saying where the path is wrong and what was expected there.
 */
export function readJsonPath(path: string): readonly JsonStep[] {
  const steps: JsonStep[] = []
  let at = match(ROOT, path, 0)?.[0].length ?? 0
  while (at < path.length) {
    const step = readStep(path, at)
    steps.push(step)
    at = step.end
  }
  return steps
}

function readStep(path: string, at: number): JsonStep {
  if (path[at] === '[') return bracketStep(path, at)
  if (path[at] === '.' && at > 0) return keyStep(path, at + 1)
  if (at === 0) return keyStep(path, at)
  throw invalidPath(path, at, '"." or "["')
}

function keyStep(path: string, at: number): JsonStep {
  const [name] = match(KEY, path, at) ?? []
  if (name === undefined) throw invalidPath(path, at, 'a key')
  return { kind: 'key', name, end: at + name.length }
}

function bracketStep(path: string, at: number): JsonStep {
  const [index, digits] = match(INDEX, path, at) ?? []
  if (index !== undefined && digits !== undefined) {
    return { kind: 'index', name: digits, end: at + index.length }
  }
  const [quoted, , key] = match(QUOTED, path, at) ?? []
  if (quoted === undefined || key === undefined) {
    throw invalidPath(path, at, '[n] with n from 0, or ["key"]')
  }
  return { kind: 'key', name: key.replaceAll(/\\(.)/gs, '$1'), end: at + quoted.length }
}

function match(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at
  return pattern.exec(text)
}

function invalidPath(path: string, at: number, expected: string): JsonError {
  const got = at === path.length ? 'the end' : JSON.stringify(startOf(path.slice(at)))
  return new JsonError(
    `Invalid path: '${startOf(path)}': expected ${expected} at position ${at + 1}, got ${got}`,
  )
}
