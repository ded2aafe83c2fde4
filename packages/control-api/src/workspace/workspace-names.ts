/**
 * Pure: from a path as a request writes it to the names it consists of, below the root of the workspace.
 *
 * What is hidden, a name that begins with a dot, is not shown: `.env`, `.git`, `.ssh` and `.tutti` hold
 * what readers of runs are not to see.
 */
import { TuttiError } from '@tutti/core'
import { badRequest } from '@tutti/gateway'

/** Characters of a path; the longest of use are far shorter. */
const MAX_PATH_LENGTH = 1_000

/** Characters of a path that a message repeats. */
const SHOWN_LENGTH = 200

/**
 * The names of a relative path: `./docs//a.txt` is `docs`, `a.txt`; of the root itself there are none.
 *
 * @throws {TuttiError} BAD_REQUEST for what is no path; FORBIDDEN for one that leads out; NOT_FOUND for one
 * that is hidden.
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

/** Whether a name is not shown. */
export function isHidden(name: string): boolean {
  return name.startsWith('.')
}

/** Whether a request can ask for a name of a directory as it is. */
export function isReachable(name: string): boolean {
  return !isHidden(name) && !name.includes('/') && findPathProblem(name) === undefined
}

/** A path that leads out of the workspace. */
export function outsideWorkspace(path: string): TuttiError {
  const message = `Path "${formatPath(path)}" leads out of the workspace; it must be relative and have no ".."`
  return new TuttiError('FORBIDDEN', message)
}

/** A path where the workspace has nothing to show. */
export function notInWorkspace(path: string, why = 'is not in the workspace'): TuttiError {
  return new TuttiError('NOT_FOUND', `"${formatPath(path)}" ${why}`)
}

/** A path in a message, on one line. */
export function formatPath(path: string): string {
  const shown = path.length > SHOWN_LENGTH ? `${path.slice(0, SHOWN_LENGTH)}…` : path
  return shown === '' ? '.' : shown.toWellFormed()
}

function findPathProblem(path: string): string | undefined {
  if (path.length > MAX_PATH_LENGTH) {
    return `must have at most ${MAX_PATH_LENGTH} characters, got ${path.length}`
  }
  if (/\p{Cc}/u.test(path)) return 'must have no control characters'
  if (!path.isWellFormed()) return 'must be well-formed Unicode'
  // On some systems it separates names, on others it is part of one.
  if (path.includes('\\')) return 'must separate names with "/", and have no "\\"'
  return undefined
}
