/** Joins class names. */

/** Joins the names that are not empty. */
export function cx(...names: readonly (string | false | undefined)[]): string {
  return names.filter(Boolean).join(' ')
}
