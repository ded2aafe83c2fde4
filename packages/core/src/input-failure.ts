/** The words for input that does not fit, for the model that has to mend it. */
import type { Problem } from '@tutti/protocol'

/** `Invalid input for "x": ` and every problem with its path. */
export function inputFailure(
  toolName: string,
  problems: readonly Problem[],
  origin = 'input',
): string {
  const list = problems.map(({ path, message }) => `${path === '' ? 'input' : path} ${message}`)
  return `Invalid ${origin} for "${toolName}": ${list.join('; ')}`
}
