/** Converts file errors to results. */
import { ToolResult } from '@tutti/core'

import { FileError, toFileError, type FileAction } from './file-error.ts'

/** Returns the result of `act`; file errors become failed results for the model, and other errors are rethrown. */
export async function answerWithFile(
  action: FileAction,
  path: string,
  act: () => Promise<string>,
): Promise<ToolResult> {
  try {
    return ToolResult.success(await act())
  } catch (error) {
    const known = toFileError(error, action, path)
    if (known instanceof FileError) return ToolResult.failure(known.message)
    throw known
  }
}
