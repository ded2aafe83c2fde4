/** Class names in one attribute. */

/** Joins the names that are there. */
export function cx(...names: readonly (string | false | undefined)[]): string {
  return names.filter(Boolean).join(' ')
}
