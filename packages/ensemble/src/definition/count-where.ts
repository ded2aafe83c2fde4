/** Returns the number of items at the start of a list that satisfy a condition, which no later item satisfies. */
export function countWhere<Item>(
  items: readonly Item[],
  satisfies: (item: Item) => boolean,
): number {
  let [from, to] = [0, items.length]
  while (from < to) {
    const middle = (from + to) >> 1
    const item = items[middle]
    if (item !== undefined && satisfies(item)) from = middle + 1
    else to = middle
  }
  return from
}
