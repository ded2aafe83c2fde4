/** A path or a file that a tool refuses; its message is for the model. */
export class FileError extends Error {
  override readonly name = 'FileError'
}

/** Longest path that a message repeats. */
const SHOWN_LENGTH = 200

/** A path of the model in a message, on one line. */
export function quotePath(path: string): string {
  const shown = path.length > SHOWN_LENGTH ? `${path.slice(0, SHOWN_LENGTH)}…` : path
  return shown.toWellFormed().replaceAll(/\p{Cc}/gu, (sign) => {
    return `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`
  })
}

/** A path that may not be used. */
export function accessDenied(path: string, why: string): FileError {
  return new FileError(`Access denied: ${quotePath(path)}: ${why}`)
}

/** A path that leads out of the sandbox, be it by links or by what was moved meanwhile. */
export function outsideSandbox(path: string): FileError {
  return accessDenied(path, 'it leads out of the directory of this tool')
}

/** Something that is there and is no file, such as a directory or a pipe. */
export function notAFile(path: string, what: string): FileError {
  return new FileError(`Not a file: ${quotePath(path)} is ${what}`)
}

/** What was done with a file when it failed. */
export type FileAction = 'read' | 'write'

/**
 * What failed, in words that name nothing outside the directory of the tool: the messages of Node have
 * full paths in them. What is no error of the file system comes back as it is.
 */
export function fileErrorOf(error: unknown, action: FileAction, path: string): unknown {
  const code = systemCode(error)
  if (code === undefined) return error
  const shown = quotePath(path)
  switch (code) {
    case 'ENOENT':
      return new FileError(action === 'read' ? `File not found: ${shown}` : gone(shown))
    case 'ENOTDIR':
      return new FileError(`Cannot ${action} ${shown}: a part of its path is no directory`)
    case 'EISDIR':
      return notAFile(path, 'a directory')
    case 'ELOOP':
      return accessDenied(path, 'it became a symbolic link meanwhile')
    case 'EACCES':
    case 'EPERM':
      return accessDenied(path, `there is no permission to ${action} it`)
    case 'ENAMETOOLONG':
      return new FileError(`Path too long: ${shown}`)
    default:
      return new FileError(`Cannot ${action} ${shown}: the file system says ${code}`)
  }
}

function gone(shown: string): string {
  return `Cannot write ${shown}: its directory is gone`
}

/** The code of an error of the file system, such as ENOENT. */
export function systemCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('syscall' in error) || !('code' in error)) return undefined
  return String(error.code)
}
