/** Messages about invalid input, for the model that has to correct it. */
import type { Problem } from '@tutti/protocol/internal'

/** Returns `Invalid input for "x": ` and every problem with its path. */
export function formatInputFailure(
  toolName: string,
  problems: readonly Problem[],
  origin = 'input',
): string {
  return `Invalid ${origin} for "${toolName}": ${problemList(problems, origin)}`
}

/** Returns every problem with its path, in one line; a problem of the whole value is named `whole`. */
export function problemList(problems: readonly Problem[], whole = 'input'): string {
  return problems.map(({ path, message }) => `${path === '' ? whole : path} ${message}`).join('; ')
}
