/** The answer of a file tool. */
import { ToolResult } from '@tutti/core'

import { FileError, fileErrorOf, type FileAction } from './file-error.ts'

/** What `act` gives, or the failure in words for the model; what is no fault of a file is thrown on. */
export async function answerWithFile(
  action: FileAction,
  path: string,
  act: () => Promise<string>,
): Promise<ToolResult> {
  try {
    return ToolResult.success(await act())
  } catch (error) {
    const known = fileErrorOf(error, action, path)
    if (known instanceof FileError) return ToolResult.failure(known.message)
    throw known
  }
}
