/** Which rows of a long table are in the page, and which of them has the focus. */
import { defaultRangeExtractor, useVirtualizer } from '@tanstack/react-virtual'
import { useEffect, useLayoutEffect, useState, type KeyboardEvent, type RefObject } from 'react'

/** What rows there are. */
export interface RowsOptions {
  readonly count: number
  readonly keyAt: (index: number) => string | undefined
  /** Height of a row before it was measured, in pixels. */
  readonly estimate: number
  /** Where the reader was. */
  readonly offset: number
  /** Called when the end comes near. */
  readonly onEnd: () => void
}

/** Rows before the end at which it is near. */
const NEAR_END = 20

/** The rows; `scroller` is what they are in. */
export function useVirtualRows(
  scroller: RefObject<HTMLDivElement | null>,
  { count, keyAt, estimate, offset, onEnd }: RowsOptions,
) {
  const [focused, setFocused] = useState<string>()
  const [wanted, setWanted] = useState<{ readonly index: number }>()
  const virtualizer = useVirtualizer({
    count,
    getScrollElement: () => scroller.current,
    estimateSize: () => estimate,
    overscan: 8,
    initialOffset: offset,
    getItemKey: (index) => keyAt(index) ?? index,
    rangeExtractor: (range) =>
      withPlaces(defaultRangeExtractor(range), [placeOf(focused), wanted?.index ?? -1]),
  })
  function placeOf(key: string | undefined): number {
    if (key === undefined) return -1
    for (let index = 0; index < count; index += 1) if (keyAt(index) === key) return index
    return -1
  }
  const focusRow = (index: number): void => {
    virtualizer.scrollToIndex(index, { align: 'auto' })
    setWanted({ index })
  }
  useLayoutEffect(() => {
    if (wanted === undefined) return
    const place = `[data-index="${wanted.index}"] [data-row]`
    scroller.current?.querySelector<HTMLElement>(place)?.focus({ preventScroll: true })
  }, [wanted, scroller])
  const last = virtualizer.range?.endIndex ?? -1
  useEffect(() => {
    if (last >= count - NEAR_END) onEnd()
  }, [last, count, onEnd])
  return {
    virtualizer,
    setFocused,
    focusFirst: () => focusRow(virtualizer.range?.startIndex ?? 0),
    onKeyDown: (event: KeyboardEvent): void => {
      const from =
        focused === undefined ? (virtualizer.range?.startIndex ?? 0) - 1 : placeOf(focused)
      const index = stepOf(event, from, count)
      if (index === undefined) return
      event.preventDefault()
      focusRow(index)
    },
  }
}

function withPlaces(range: readonly number[], places: readonly number[]): number[] {
  const more = places.filter((place) => place >= 0)
  return [...new Set([...range, ...more])].toSorted((one, other) => one - other)
}

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
