/** Decides which licenses third-party code may have that users install or that we bundle. */

/**
 * Licenses that allow use and distribution in any product, with a notice at most. OFL-1.1 is for fonts.
 *
 * @see https://spdx.org/licenses/
 */
const ALLOWED = ['Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', 'ISC', 'MIT', 'OFL-1.1', 'Unlicense']

/** Returns whether all licenses of an SPDX expression are allowed; one is enough where it offers a choice. */
export function isAllowedLicense(expression: string): boolean {
  const alternatives = expression.replace(/^\((.*)\)$/, '$1').split(' OR ')
  return alternatives.some((terms) => terms.split(' AND ').every((term) => ALLOWED.includes(term)))
}
