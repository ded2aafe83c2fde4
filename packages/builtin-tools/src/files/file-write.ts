/** The file_write tool. */
import { assertKnownOptions, defineTool, startOfInput, TOOL_SETTING_NAMES, Type } from '@tutti/core'

import { answerWithFile } from './answer.ts'
import { FileError, quotePath } from './file-error.ts'
import { locate } from './locate.ts'
import { resolveFileOptions, type FileOptions, type ResolvedFileOptions } from './options.ts'
import { pathParts } from './path-parts.ts'
import { replaceFile } from './replace-file.ts'

import type { OptionNames, ToolContext, ToolSettings, TypedTool } from '@tutti/core'

/** Arguments of the file_write tool. */
export interface FileWriteInput {
  readonly path: string
  readonly content: string
}

/** Settings of the file_write tool. */
export interface FileWriteOptions extends FileOptions, Partial<ToolSettings<FileWriteInput>> {}

const OPTION_NAMES = {
  ...TOOL_SETTING_NAMES,
  directory: true,
  maxBytes: true,
} as const satisfies OptionNames<FileWriteOptions>

const DEFAULTS = {
  name: 'file_write',
  description:
    'Writes a text file of the working directory: makes it, or replaces all of its content. Paths are ' +
    'relative to the directory, such as docs/a.md; directories that are missing are made.',
} as const satisfies ToolSettings<FileWriteInput>

const Input = Type.Object({
  path: Type.String({ description: 'Path relative to the working directory, such as docs/a.md' }),
  content: Type.String({ description: 'The whole content of the file' }),
})

/**
 * A typed tool that writes text files (UTF-8) within one directory. It reports each file it has changed.
 *
 * @throws {TypeError} when there is no such directory, and naming every setting that does not fit.
 * @throws {RangeError} for a `maxBytes` that is no positive number.
 */
export function fileWrite(options: FileWriteOptions): TypedTool<FileWriteInput> {
  assertKnownOptions('Cannot define tool "file_write":', options, OPTION_NAMES)
  const { directory, maxBytes, requireApproval, ...settings } = options
  const definition = { ...DEFAULTS, ...settings }
  const resolved = resolveFileOptions({ directory, maxBytes }, definition.name)
  return defineTool({
    ...definition,
    requireApproval: withDescription(requireApproval),
    input: Input,
    execute: (input, context) =>
      answerWithFile('write', input.path, () => write(input, resolved, context)),
  })
}

type RequireApproval = NonNullable<FileWriteOptions['requireApproval']>

/** The reviewer sees the path and the start of the content, unless a description is given. */
function withDescription(requireApproval: RequireApproval = false): RequireApproval {
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
  const names = pathParts(path)
  const bytes = bytesOf(content, path)
  if (bytes.length > maxBytes) {
    throw new FileError(
      `Content too large: ${bytes.length} bytes for ${quotePath(path)}, at most ${maxBytes} are written`,
    )
  }
  const place = await locate(sandbox, names, { path, signal, makeDirectories: true })
  try {
    const changes = await replaceFile(place, bytes, { path, signal })
    reportFileChange({ path: names.join('/'), ...changes })
    return `Successfully wrote to: ${quotePath(path)}`
  } finally {
    await place.directory.close()
  }
}

function bytesOf(content: string, path: string): Buffer {
  if (content.isWellFormed()) return Buffer.from(content)
  throw new FileError(`Cannot write ${quotePath(path)}: its content has half of a surrogate pair`)
}
