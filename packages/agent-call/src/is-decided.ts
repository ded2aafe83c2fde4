import { TuttiError } from '@tutti/core'

/** Whether a person, or the set-up of the tool, has decided about more than this call. */
export function isDecided(error: unknown): error is TuttiError {
  return TuttiError.isInstance(error) && DECIDED.includes(error.code)
}

const DECIDED: readonly string[] = ['EXIT_EARLY', 'TOOL_REJECTED', 'TOOL_CONFIGURATION']
