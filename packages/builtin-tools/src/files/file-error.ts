/** The error of a refused path or file; its message is for the model. */
export class FileError extends Error {
  override readonly name = 'FileError'
}

/** Maximum number of characters of a path that a message quotes. */
const SHOWN_LENGTH = 200

/** Formats a path of the model for a message, on one line. */
export function quotePath(path: string): string {
  const shown = path.length > SHOWN_LENGTH ? `${path.slice(0, SHOWN_LENGTH)}…` : path
  return shown.toWellFormed().replaceAll(/\p{Cc}/gu, (sign) => {
    return `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`
  })
}

/** Creates the error of a path that is not allowed. */
export function accessDeniedError(path: string, reason: string): FileError {
  return new FileError(`Access denied: ${quotePath(path)}: ${reason}`)
}

/** Creates the error of a path that leaves the sandbox, through links or because something was moved. */
export function outsideSandboxError(path: string): FileError {
  return accessDeniedError(path, 'it is outside the directory of this tool')
}

/** Creates the error of a path to something other than a file, such as a directory or a pipe. */
export function notAFileError(path: string, what: string): FileError {
  return new FileError(`Not a file: ${quotePath(path)} is ${what}`)
}

/** The operation that failed. */
export type FileAction = 'read' | 'write'

/**
 * Converts an error of the file system to one whose message names nothing outside the directory of the tool; Node's
 * messages contain full paths. Other errors are returned unchanged.
 */
export function toFileError(error: unknown, action: FileAction, path: string): unknown {
  const code = readSystemCode(error)
  if (code === undefined) return error
  const shown = quotePath(path)
  switch (code) {
    case 'ENOENT':
      return new FileError(
        action === 'read' ? `File not found: ${shown}` : describeMissingDirectory(shown),
      )
    case 'ENOTDIR':
      return new FileError(`Cannot ${action} ${shown}: a part of its path is not a directory`)
    case 'EISDIR':
      return notAFileError(path, 'a directory')
    case 'ELOOP':
      return accessDeniedError(path, 'it has become a symbolic link')
    case 'EACCES':
    case 'EPERM':
      return accessDeniedError(path, `permission to ${action} it is missing`)
    case 'ENAMETOOLONG':
      return new FileError(`Path too long: ${shown}`)
    default:
      return new FileError(`Cannot ${action} ${shown}: file system error ${code}`)
  }
}

function describeMissingDirectory(shown: string): string {
  return `Cannot write ${shown}: its directory no longer exists`
}

/** Returns the code of a file system error, such as ENOENT; undefined for other errors. */
export function readSystemCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('syscall' in error) || !('code' in error)) return undefined
  return String(error.code)
}
