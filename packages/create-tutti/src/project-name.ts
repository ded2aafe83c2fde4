/** Pure: which names npm takes for a package. @see https://docs.npmjs.com/cli/configuring-npm/package-json#name */

const MAX_LENGTH = 214

/** A name, with its scope or without. */
const FIT = /^(?:@[a-z0-9~-][a-z0-9._~-]*\/)?[a-z0-9~-][a-z0-9._~-]*$/

/** Names that npm keeps for itself. */
const TAKEN = ['node_modules', 'favicon.ico']

/** What is wrong with a name, in words that follow it; undefined when npm takes it. */
export function nameProblem(name: string): string | undefined {
  if (name.length > MAX_LENGTH) return `is longer than ${MAX_LENGTH} characters`
  if (TAKEN.includes(name)) return 'is a name that npm keeps for itself'
  if (FIT.test(name)) return undefined
  return 'is no name of a package: those have small letters, digits, "-", "." and "_", and begin with a letter or a digit'
}

/** A name that npm takes, as near as it can be to `text`; empty when nothing of it is left. */
export function toProjectName(text: string): string {
  return text
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[^a-z0-9._~-]+/g, '-')
    .replaceAll(/^[-._]+|[-._]+$/g, '')
    .slice(0, MAX_LENGTH)
}
