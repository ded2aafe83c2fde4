/** Pure: checks and creates names of npm packages. @see https://docs.npmjs.com/cli/configuring-npm/package-json#name */

const MAX_LENGTH = 214

/** A valid name, with or without a scope. */
const VALID = /^(?:@[a-z0-9~-][a-z0-9._~-]*\/)?[a-z0-9~-][a-z0-9._~-]*$/

/** Names that npm reserves. */
const RESERVED = ['node_modules', 'favicon.ico']

/** Returns the problem of a name, as a phrase that follows it; undefined when the name is valid. */
export function findNameProblem(name: string): string | undefined {
  if (name.length > MAX_LENGTH) return `is longer than ${MAX_LENGTH} characters`
  if (RESERVED.includes(name)) return 'is a name that npm reserves'
  if (VALID.test(name)) return undefined
  return 'is not a valid package name: use lowercase letters, digits, "-", "." and "_", and start with a letter or a digit'
}

/** Converts a text to a valid name. Returns an empty text when no valid character is left. */
export function toProjectName(text: string): string {
  return text
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[^a-z0-9._~-]+/g, '-')
    .replaceAll(/^[-._]+|[-._]+$/g, '')
    .slice(0, MAX_LENGTH)
}
