/** Returns the names that occur more than once, each once. */
export function findDuplicates(names: readonly string[]): readonly string[] {
  const seen = new Set<string>()
  const again = names.filter((name) => seen.size === seen.add(name).size)
  return [...new Set(again)]
}
