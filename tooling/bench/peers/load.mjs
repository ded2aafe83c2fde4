/** Imports from among the peers, as a program that has them installed does. It is copied beside them. */
export function load(specifier) {
  return import(specifier)
}
