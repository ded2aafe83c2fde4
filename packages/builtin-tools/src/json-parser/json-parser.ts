/** The json_parser tool. */
import { defineTool, ToolResult, Type } from '@tutti/core'
import { assertKnownOptions, TOOL_SETTING_NAMES } from '@tutti/core/internal'

import { followPath } from './follow-path.ts'
import { JsonError } from './json-error.ts'
import { parseJsonPath } from './json-path.ts'
import { formatJson } from './json-value.ts'
import { parseJsonText } from './read-json.ts'

import type { ToolSettings, TypedTool } from '@tutti/core'
import type { OptionNames } from '@tutti/core/internal'

/** Arguments of the json_parser tool. */
export interface JsonParserInput {
  readonly jsonPath: string
  readonly json: string
}

export interface JsonParserOptions extends Partial<ToolSettings<JsonParserInput>> {
  /** Maximum size of the JSON text, in bytes of UTF-8. @default 10485760 (10 MiB) */
  readonly maxBytes?: number
}

/** More than any model writes; parsing it takes a quarter of a second on a small machine. */
const DEFAULT_MAX_BYTES = 10 * 1024 * 1024

const OPTION_NAMES = {
  ...TOOL_SETTING_NAMES,
  maxBytes: true,
} as const satisfies OptionNames<JsonParserOptions>

const DEFAULTS = {
  name: 'json_parser',
  description:
    'Returns one value of a JSON text by its path, such as user.address.city, items[0].title or ' +
    '["a.key"]; $ is the whole document. A string is returned without quotes, everything else as JSON.',
} as const satisfies ToolSettings<JsonParserInput>

const Input = Type.Object({
  jsonPath: Type.String({ description: 'Path of the value: a.b[0].c; $ for the whole document' }),
  json: Type.String({ description: 'The JSON text' }),
})

/**
 * Creates a typed tool that extracts a value from JSON. If a model sends a JSON value instead of text, the value is
 * serialized first.
 *
 * @throws {TypeError} naming every invalid setting.
 * @throws {RangeError} when `maxBytes` is not positive.
 */
export function jsonParser(options: JsonParserOptions = {}): TypedTool<JsonParserInput> {
  assertKnownOptions('Cannot define tool "json_parser":', options, OPTION_NAMES)
  const { maxBytes = DEFAULT_MAX_BYTES, ...settings } = options
  if (!(maxBytes > 0)) {
    throw new RangeError(`Cannot define tool "json_parser": maxBytes must be > 0, got ${maxBytes}`)
  }
  const tool = defineTool({
    ...DEFAULTS,
    ...settings,
    input: Input,
    execute: (input) => extract(input, maxBytes),
  })
  return {
    ...tool,
    readInput: (input) => tool.readInput(serializeJson(input)),
    call: (input, context) => tool.call(serializeJson(input), context),
  }
}

/** Returns the arguments with `json` as text, serialized if it is another value. */
function serializeJson(input: unknown): unknown {
  if (typeof input !== 'object' || input === null || !('json' in input)) return input
  const { json } = input
  const isText = typeof json === 'string' || json === null || json === undefined
  return isText ? input : { ...input, json: JSON.stringify(json) }
}

function extract({ jsonPath, json }: JsonParserInput, maxBytes: number): ToolResult {
  const bytes = Buffer.byteLength(json)
  if (bytes > maxBytes) {
    return ToolResult.failure(`JSON too large: ${bytes} bytes, maximum ${maxBytes}`)
  }
  try {
    const text = jsonPath.trim()
    const steps = parseJsonPath(text)
    return ToolResult.success(formatJson(followPath(parseJsonText(json), { text, steps })))
  } catch (error) {
    if (error instanceof JsonError) return ToolResult.failure(error.message)
    throw error
  }
}
