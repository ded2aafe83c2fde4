/** Pure: the keys that go from row to row. */

/** A key that was pressed. */
type PressedKey = Readonly<Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'metaKey' | 'altKey'>>

/** The row that a key goes to from row `at` (-1 is none) of `count`; undefined when it goes nowhere. */
export function stepOf(
  { key, ctrlKey, metaKey, altKey }: PressedKey,
  at: number,
  count: number,
): number | undefined {
  if (ctrlKey || metaKey || altKey || count === 0) return undefined
  switch (key) {
    case 'ArrowDown':
    case 'j':
      return Math.min(at + 1, count - 1)
    case 'ArrowUp':
    case 'k':
      return Math.max(at - 1, 0)
    case 'Home':
      return 0
    case 'End':
      return count - 1
    default:
      return undefined
  }
}
