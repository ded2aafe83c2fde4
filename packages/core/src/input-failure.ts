/** The words for input that does not fit, for the model that has to mend it. */
import type { Problem } from '@tutti/protocol'

/** `Invalid input for "x": ` and every problem with its path. */
export function formatInputFailure(
  toolName: string,
  problems: readonly Problem[],
  origin = 'input',
): string {
  return `Invalid ${origin} for "${toolName}": ${problemList(problems)}`
}

/** Every problem with its path, in one line; a problem with the value itself names it `whole`. */
export function problemList(problems: readonly Problem[], whole = 'input'): string {
  return problems.map(({ path, message }) => `${path === '' ? whole : path} ${message}`).join('; ')
}
