/** Saying everything that is wrong with a tool made of tools at once. */
import {
  definitionError as coded,
  defineTextTool,
  errorMessage,
  findUnknownOptions,
  pickOptions,
  TOOL_SETTING_NAMES,
  type ToolSettings,
} from '@tutti/core'

type Settings = Partial<ToolSettings<never>>

/** Longest name that models take; the rule itself is that of `defineTool`. */
const LONGEST_NAME = 64

/** Returns the settings that every tool has, without the options of one kind of tool. */
export function toolSettings<Given extends object>(
  given: Given,
): Pick<Given, Extract<keyof Given, keyof typeof TOOL_SETTING_NAMES>> {
  return pickOptions(given, TOOL_SETTING_NAMES)
}

/** Returns a problem for each option that is not one of `own` nor of every tool. */
export function optionProblems(
  given: object,
  own: Readonly<Record<string, true>>,
): readonly string[] {
  return findUnknownOptions(given, { ...own, ...TOOL_SETTING_NAMES })
}

/** What is wrong with a name made of other names, where no name is set. */
export function nameProblems(name: string, settings: Settings): readonly string[] {
  if (settings.name !== undefined || name.length <= LONGEST_NAME) return []
  return [`set a name, because "${name}" has ${name.length} of at most ${LONGEST_NAME} characters`]
}

/** An error that names the problems, and those of the settings. `what` is such as `a pipeline`. */
export function pipelineDefinitionError(
  what: string,
  problems: readonly string[],
  settings: Settings,
): TypeError {
  return coded(`Cannot make ${what}: ${[...problems, ...settingsProblems(settings)].join('; ')}`)
}

/** What `defineTool` would say of the settings; it says all of it at once. */
function settingsProblems(settings: Settings): readonly string[] {
  const { requireApproval: _, ...rest } = settings
  try {
    defineTextTool({ name: 'unnamed', description: 'Unnamed', ...rest, execute: (text) => text })
    return []
  } catch (error) {
    return [errorMessage(error)]
  }
}
