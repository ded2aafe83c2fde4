/**
 * Checks of option objects at run time. The compiler rejects unknown keys only in object literals; a definition from
 * JavaScript, from a variable or from a spread can still have a misspelled key, and a typo must never turn off a review or
 * a limit.
 */
import { findExcessProblems, suggest } from '@tutti/protocol/internal'

/**
 * Names of all options of `Options`. Write the list with `satisfies OptionNames<Options>`: an option that is missing
 * from it, or no longer exists, is then a compile error.
 */
export type OptionNames<Options> = Readonly<Record<keyof Options & string, true>>

/** Returns the error of an invalid definition: a `TypeError` with the code CONFIG_INVALID. */
export function definitionError(message: string): TypeError & { readonly code: 'CONFIG_INVALID' } {
  const error = new TypeError(message)
  return Object.defineProperty(Object.assign(error, { code: 'CONFIG_INVALID' as const }), 'code', {
    enumerable: false,
  })
}

/**
 * Returns one problem for each key of `given` that is not a known option, and one for each number that exceeds the maximum
 * of its unit (`maximumOf` of `@tutti/protocol`); `owner` is, for example, `review`.
 */
export function findOptionProblems(
  given: object,
  known: Readonly<Record<string, true>>,
  owner?: string,
): readonly string[] {
  const isUnknown = (name: string): boolean => !Object.hasOwn(known, name)
  const all = Object.keys(given)
  if (!all.some(isUnknown)) return findExcessProblems(given, owner)
  const names = Object.keys(known)
  const where = owner === undefined ? '' : ` of ${owner}`
  return [
    ...all
      .filter(isUnknown)
      .map((name) => `unknown option "${name.slice(0, 100)}"${where}${formatHint(name, names)}`),
    ...findExcessProblems(pickOptions(given, known), owner),
  ]
}

/**
 * Checks the keys of an options object; `action` is, for example, `Cannot define tool "datetime":`.
 *
 * @throws {TypeError} listing every unknown option, and every number above its maximum.
 */
export function assertKnownOptions(
  action: string,
  given: object,
  known: Readonly<Record<string, true>>,
): void {
  const problems = findOptionProblems(given, known)
  if (problems.length > 0) throw definitionError(`${action} ${problems.join('; ')}`)
}

/** Returns a problem unless `value` is one of `choices` or undefined. */
export function findChoiceProblems(
  name: string,
  value: unknown,
  choices: readonly string[],
): readonly string[] {
  if (value === undefined || (typeof value === 'string' && choices.includes(value))) return []
  const quoted = choices.map((choice) => JSON.stringify(choice))
  const list = quoted.length === 2 ? quoted.join(' or ') : `one of ${quoted.join(', ')}`
  const shown = typeof value === 'string' ? JSON.stringify(value.slice(0, 100)) : typeof value
  const meant = typeof value === 'string' ? suggest(value, choices) : undefined
  const question = meant === undefined ? '' : ` (did you mean ${JSON.stringify(meant)}?)`
  return [`${name} must be ${list}, got ${shown}${question}`]
}

/** Copies the known options of `given` and leaves out the others. */
export function pickOptions<Given extends object, Name extends string>(
  given: Given,
  known: Readonly<Record<Name, true>>,
): Pick<Given, Extract<keyof Given, Name>> {
  const entries = Object.entries(given).filter(([name]) => Object.hasOwn(known, name))
  // NOTE: the entries are those of `given` whose names are in `known`, which is the declared type.
  return Object.fromEntries(entries) as Pick<Given, Extract<keyof Given, Name>>
}

function formatHint(name: string, names: readonly string[]): string {
  const meant = suggest(name, names)
  return meant === undefined
    ? ` (known options: ${names.join(', ')})`
    : ` (did you mean "${meant}"?)`
}
