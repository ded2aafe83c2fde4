/**
 * Parses the paths of requests to names below the root of the workspace. Pure.
 *
 * Names that begin with a dot are hidden, because `.env`, `.git`, `.ssh` and `.tutti` contain secrets.
 */
import { TuttiError } from '@tutti/core'
import { badRequest } from '@tutti/gateway/internal'

/** Maximum length of a path, in characters. */
const MAX_PATH_LENGTH = 1_000

/** Maximum length of a path in a message, in characters. */
const SHOWN_LENGTH = 200

/**
 * Returns the names of a relative path, such as `docs` and `a.txt` of `./docs//a.txt`. The root has none.
 *
 * @throws {TuttiError} BAD_REQUEST for a malformed path; FORBIDDEN for one that leads out; NOT_FOUND for a hidden one.
 */
export function parseWorkspacePath(path: string): readonly string[] {
  const problem = findPathProblem(path)
  if (problem !== undefined) throw badRequest('query', [{ path: '/path', message: problem }])
  const names = path.split('/').filter((name) => name !== '' && name !== '.')
  if (path.startsWith('/') || /^[a-z]:/i.test(path) || names.includes('..'))
    throw outsideWorkspace(path)
  if (names.some(isHidden)) throw notInWorkspace(path)
  return names
}

/** Returns whether a name is hidden. */
export function isHidden(name: string): boolean {
  return name.startsWith('.')
}

/** Returns whether requests can access a name in a directory. */
export function isReachable(name: string): boolean {
  return !isHidden(name) && !name.includes('/') && findPathProblem(name) === undefined
}

/** Creates the error for a path that leads out of the workspace. */
export function outsideWorkspace(path: string): TuttiError {
  const message = `Path "${formatPath(path)}" leads out of the workspace; it must be relative and must not contain ".."`
  return new TuttiError('FORBIDDEN', message)
}

/** Creates the error for a path that does not exist in the workspace, or must not be accessed. */
export function notInWorkspace(path: string, why = 'is not in the workspace'): TuttiError {
  return new TuttiError('NOT_FOUND', `"${formatPath(path)}" ${why}`)
}

/** Formats a path for a message: truncated, and `.` for the root. */
export function formatPath(path: string): string {
  const shown = path.length > SHOWN_LENGTH ? `${path.slice(0, SHOWN_LENGTH)}…` : path
  return shown === '' ? '.' : shown.toWellFormed()
}

function findPathProblem(path: string): string | undefined {
  if (path.length > MAX_PATH_LENGTH) {
    return `must have at most ${MAX_PATH_LENGTH} characters, got ${path.length}`
  }
  if (/\p{Cc}/u.test(path)) return 'must not contain control characters'
  if (!path.isWellFormed()) return 'must be well-formed Unicode'
  // A backslash separates names on some systems and is part of a name on others.
  if (path.includes('\\')) return 'must separate names with "/" and must not contain "\\"'
  return undefined
}
