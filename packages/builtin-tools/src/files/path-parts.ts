/** Splits paths of the model into names. */
import { accessDeniedError, FileError, notAFileError } from './file-error.ts'

/** Maximum number of characters of a path; real paths are far shorter. */
const MAX_PATH_LENGTH = 1_000

/**
 * Returns the names of a relative path: `docs`, `a.txt` for `./docs//a.txt`. A backslash separates names on some systems
 * and is part of a name on others, so it is refused everywhere, as is everything that could leave the directory.
 *
 * @throws {FileError} for a path that is not allowed or does not name a file.
 */
export function splitPath(path: string): readonly string[] {
  if (path.trim() === '') throw new FileError('Path must not be blank')
  if (path.length > MAX_PATH_LENGTH) {
    throw new FileError(`Path too long: ${path.length} characters, maximum ${MAX_PATH_LENGTH}`)
  }
  if (/\p{Cc}/u.test(path))
    throw accessDeniedError(path, 'a path must not contain control characters')
  if (!path.isWellFormed()) throw accessDeniedError(path, 'a path must be well-formed Unicode')
  if (path.includes('\\'))
    throw accessDeniedError(path, 'separate names with "/"; "\\" is not allowed')
  if (path.startsWith('/') || /^[a-z]:/i.test(path)) {
    throw accessDeniedError(path, 'a path must be relative to the directory of this tool')
  }
  const names = path.split('/')
  if (names.includes('..')) throw accessDeniedError(path, 'a path must not contain ".."')
  if (/(?:^|\/)\.?$/.test(path)) throw notAFileError(path, 'a directory')
  return names.filter((name) => name !== '' && name !== '.')
}
