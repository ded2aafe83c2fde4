/** From a path as a model writes it to the names it consists of. */
import { accessDenied, FileError, notAFile } from './file-error.ts'

/** Characters of a path; the longest of use are far shorter. */
const MAX_PATH_LENGTH = 1_000

/**
 * The names of a relative path: `./docs//a.txt` is `docs`, `a.txt`. A backslash separates names on some
 * systems and is part of one on others, so that it is refused everywhere, as is all that could lead out.
 *
 * @throws {FileError} for a path that may not be used or names no file.
 */
export function pathParts(path: string): readonly string[] {
  if (path.trim() === '') throw new FileError('Path must not be blank')
  if (path.length > MAX_PATH_LENGTH) {
    throw new FileError(`Path too long: ${path.length} characters, at most ${MAX_PATH_LENGTH}`)
  }
  if (/\p{Cc}/u.test(path)) throw accessDenied(path, 'a path has no control characters')
  if (!path.isWellFormed()) throw accessDenied(path, 'a path is well-formed Unicode')
  if (path.includes('\\'))
    throw accessDenied(path, 'separate names with "/", a "\\" is not allowed')
  if (path.startsWith('/') || /^[a-z]:/i.test(path)) {
    throw accessDenied(path, 'a path is relative to the directory of this tool')
  }
  const names = path.split('/')
  if (names.includes('..')) throw accessDenied(path, 'a path has no ".."')
  if (/(?:^|\/)\.?$/.test(path)) throw notAFile(path, 'a directory')
  return names.filter((name) => name !== '' && name !== '.')
}
