/** Pure: which task the arrow keys lead to. */
import type { GraphLayout } from './layout.ts'

/**
 * The row that a key leads to from another; undefined for other keys. Up and down go along the lines, to
 * the nearest task, and where no line goes to the next row; left and right to the next row in any case.
 */
export function rowAfterKey(
  { rows, links }: GraphLayout,
  row: number,
  key: string,
): number | undefined {
  const last = rows.length - 1
  const above = links.flatMap(({ from, to }) => (to === row ? [from] : []))
  const below = links.flatMap(({ from, to }) => (from === row ? [to] : []))
  switch (key) {
    case 'ArrowUp':
      return above.length === 0 ? Math.max(0, row - 1) : Math.max(...above)
    case 'ArrowDown':
      return below.length === 0 ? Math.min(last, row + 1) : Math.min(...below)
    case 'ArrowLeft':
      return Math.max(0, row - 1)
    case 'ArrowRight':
      return Math.min(last, row + 1)
    case 'Home':
      return 0
    case 'End':
      return last
    default:
      return undefined
  }
}
