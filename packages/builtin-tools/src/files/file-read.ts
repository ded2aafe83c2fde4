/** The file_read tool. */
import { defineTool, Type } from '@tutti/core'
import { assertKnownOptions, TOOL_SETTING_NAMES } from '@tutti/core/internal'

import { answerWithFile } from './answer.ts'
import { locate } from './locate.ts'
import { resolveFileOptions, type FileOptions, type ResolvedFileOptions } from './options.ts'
import { splitPath } from './path-parts.ts'
import { readFileText } from './read-text.ts'

import type { ToolContext, ToolSettings, TypedTool } from '@tutti/core'
import type { OptionNames } from '@tutti/core/internal'

/** Arguments of the file_read tool. */
export interface FileReadInput {
  readonly path: string
}

export interface FileReadOptions extends FileOptions, Partial<ToolSettings<FileReadInput>> {}

const OPTION_NAMES = {
  ...TOOL_SETTING_NAMES,
  directory: true,
  maxBytes: true,
} as const satisfies OptionNames<FileReadOptions>

const DEFAULTS = {
  name: 'file_read',
  description:
    'Reads a text file in the working directory. Paths are relative to it, such as docs/a.md',
} as const satisfies ToolSettings<FileReadInput>

const Input = Type.Object({
  path: Type.String({ description: 'Path relative to the working directory, such as docs/a.md' }),
})

/**
 * Creates a typed tool that reads text files (UTF-8) within one directory.
 *
 * @throws {TypeError} when the directory does not exist, or naming every invalid setting.
 * @throws {RangeError} when `maxBytes` is not positive.
 */
export function fileRead(options: FileReadOptions): TypedTool<FileReadInput> {
  assertKnownOptions('Cannot define tool "file_read":', options, OPTION_NAMES)
  const { directory, maxBytes, ...settings } = options
  const definition = { ...DEFAULTS, ...settings }
  const resolved = resolveFileOptions({ directory, maxBytes }, definition.name)
  return defineTool({
    ...definition,
    input: Input,
    execute: ({ path }, context) =>
      answerWithFile('read', path, () => read(path, resolved, context)),
  })
}

async function read(
  path: string,
  { sandbox, maxBytes }: ResolvedFileOptions,
  { signal }: ToolContext<FileReadInput>,
): Promise<string> {
  const location = await locate(sandbox, splitPath(path), { path, signal })
  try {
    return await readFileText(location, { path, maxBytes, signal })
  } finally {
    await location.directory.close()
  }
}
