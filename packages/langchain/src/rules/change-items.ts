/** Returns the changed items of a list; the list itself when no item has changed. */
export function changeItems<T>(list: readonly T[], change: (item: T) => T): readonly T[] {
  const changed = list.map(change)
  return changed.every((item, index) => item === list[index]) ? list : changed
}
