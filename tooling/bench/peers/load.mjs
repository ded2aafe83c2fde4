/** Imports a peer as a program that has it installed would. It is copied to the folder of the peers. */
export function load(specifier) {
  return import(specifier)
}
