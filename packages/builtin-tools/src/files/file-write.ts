/** The file_write tool. */
import { defineTool, Type } from '@tutti/core'
import { assertKnownOptions, startOfInput, TOOL_SETTING_NAMES } from '@tutti/core/internal'

import { answerWithFile } from './answer.ts'
import { FileError, quotePath } from './file-error.ts'
import { locate } from './locate.ts'
import { resolveFileOptions, type FileOptions, type ResolvedFileOptions } from './options.ts'
import { splitPath } from './path-parts.ts'
import { replaceFile } from './replace-file.ts'

import type { ToolContext, ToolSettings, TypedTool } from '@tutti/core'
import type { OptionNames } from '@tutti/core/internal'

/** Arguments of the file_write tool. */
export interface FileWriteInput {
  readonly path: string
  readonly content: string
}

export interface FileWriteOptions extends FileOptions, Partial<ToolSettings<FileWriteInput>> {}

const OPTION_NAMES = {
  ...TOOL_SETTING_NAMES,
  directory: true,
  maxBytes: true,
} as const satisfies OptionNames<FileWriteOptions>

const DEFAULTS = {
  name: 'file_write',
  description:
    'Writes a text file in the working directory: creates it, or replaces its whole content. Paths are ' +
    'relative to the directory, such as docs/a.md; missing directories are created.',
} as const satisfies ToolSettings<FileWriteInput>

const Input = Type.Object({
  path: Type.String({ description: 'Path relative to the working directory, such as docs/a.md' }),
  content: Type.String({ description: 'The whole content of the file' }),
})

/**
 * Creates a typed tool that writes text files (UTF-8) within one directory. It reports each file that it changes.
 *
 * @throws {TypeError} when the directory does not exist, or naming every invalid setting.
 * @throws {RangeError} when `maxBytes` is not positive.
 */
export function fileWrite(options: FileWriteOptions): TypedTool<FileWriteInput> {
  assertKnownOptions('Cannot define tool "file_write":', options, OPTION_NAMES)
  const { directory, maxBytes, requireApproval, ...settings } = options
  const definition = { ...DEFAULTS, ...settings }
  const resolved = resolveFileOptions({ directory, maxBytes }, definition.name)
  return defineTool({
    ...definition,
    requireApproval: addDescription(requireApproval),
    input: Input,
    execute: (input, context) =>
      answerWithFile('write', input.path, () => write(input, resolved, context)),
  })
}

type RequireApproval = NonNullable<FileWriteOptions['requireApproval']>

/** Returns the approval option; unless it has a description, it shows the path and the start of the content. */
function addDescription(requireApproval: RequireApproval = false): RequireApproval {
  if (requireApproval === false) return false
  return { describe, ...(requireApproval === true ? {} : requireApproval) }
}

function describe({ path, content }: FileWriteInput): string {
  return `Write file: ${quotePath(path)}\nContent: ${startOfInput(content)}`
}

async function write(
  { path, content }: FileWriteInput,
  { sandbox, maxBytes }: ResolvedFileOptions,
  { signal, reportFileChange }: ToolContext<FileWriteInput>,
): Promise<string> {
  const names = splitPath(path)
  const bytes = encodeContent(content, path)
  if (bytes.length > maxBytes) {
    throw new FileError(
      `Content too large: ${bytes.length} bytes for ${quotePath(path)}, the maximum is ${maxBytes}`,
    )
  }
  const location = await locate(sandbox, names, { path, signal, makeDirectories: true })
  try {
    const changes = await replaceFile(location, bytes, { path, signal })
    reportFileChange({ path: names.join('/'), ...changes })
    return `Successfully wrote to: ${quotePath(path)}`
  } finally {
    await location.directory.close()
  }
}

function encodeContent(content: string, path: string): Buffer {
  if (content.isWellFormed()) return Buffer.from(content)
  throw new FileError(`Cannot write ${quotePath(path)}: its content contains a lone surrogate`)
}
