/** Finds and reports the problems of the definition of a compound tool. */
import { defineTextTool, type ToolSettings } from '@tutti/core'
import {
  definitionError as coded,
  errorMessage,
  findOptionProblems,
  pickOptions,
  TOOL_SETTING_NAMES,
} from '@tutti/core/internal'

type Settings = Partial<ToolSettings<never>>

/** Maximum length of a name, as in `defineTool`. */
const MAX_NAME_LENGTH = 64

/** Returns the settings that every tool has, without the options of one kind of tool. */
export function toolSettings<Given extends object>(
  given: Given,
): Pick<Given, Extract<keyof Given, keyof typeof TOOL_SETTING_NAMES>> {
  return pickOptions(given, TOOL_SETTING_NAMES)
}

/** Returns a problem for each option that is neither in `own` nor a common setting of tools. */
export function findToolOptionProblems(
  given: object,
  own: Readonly<Record<string, true>>,
): readonly string[] {
  return findOptionProblems(given, { ...own, ...TOOL_SETTING_NAMES })
}

/** Returns a problem for a value that is not a function; `where` is a name such as `when`. */
export function findFunctionProblems(value: unknown, where: string): readonly string[] {
  return typeof value === 'function' ? [] : [`${where} must be a function, got ${showType(value)}`]
}

/** Returns the type of a value, as messages name it. */
export function showType(value: unknown): string {
  return value === null ? 'null' : typeof value
}

/** Returns the problems of a default name; none when a name is set. */
export function findNameProblems(name: string, settings: Settings): readonly string[] {
  if (settings.name !== undefined || name.length <= MAX_NAME_LENGTH) return []
  return [
    `set a name, because "${name}" has ${name.length} of at most ${MAX_NAME_LENGTH} characters`,
  ]
}

/** Creates an error that names the problems, including those of the settings. `what` is a noun such as `a pipeline`. */
export function pipelineDefinitionError(
  what: string,
  problems: readonly string[],
  settings: Settings,
): TypeError {
  return coded(
    `Cannot create ${what}: ${[...problems, ...findSettingsProblems(settings)].join('; ')}`,
  )
}

/** Returns the message of `defineTool` about the settings; it names every problem. */
function findSettingsProblems(settings: Settings): readonly string[] {
  const { requireApproval: _, ...rest } = settings
  try {
    defineTextTool({ name: 'unnamed', description: 'Unnamed', ...rest, execute: (text) => text })
    return []
  } catch (error) {
    return [errorMessage(error)]
  }
}
