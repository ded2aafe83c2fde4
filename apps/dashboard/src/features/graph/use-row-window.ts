/** Keeps only the rows in view and a few more in the page, in a list whose rows have the same height. */
import { useCallback, useEffect, useLayoutEffect, useState, type RefObject } from 'react'

import { ROW } from './graph-lines.tsx'

/** Maximum number of rows of a list that is in the page as a whole. */
const WHOLE = 120
/** Number of rows in the page before and after those in view. */
const MORE = 12
/** The window moves by so many rows. */
const STEP = 8

/** Rows in the page, from `first` to the one before `end`. */
export interface RowWindow {
  readonly first: number
  readonly end: number
  /** Returns the position of a row in the scrolling element, in pixels. */
  readonly locate: (index: number) => { readonly top: number; readonly height: number }
  /** Updates the window. */
  readonly update: () => void
}

/** Returns the window of a list with `count` rows, `list`, in the scrolling element. */
export function useRowWindow(
  scroller: RefObject<HTMLElement | null>,
  list: RefObject<HTMLElement | null>,
  count: number,
): RowWindow {
  const [range, setRange] = useState({ first: 0, end: WHOLE })
  const isWhole = count <= WHOLE
  const locate = useCallback(
    (index: number) => {
      const height =
        (ROW / 16) * Number.parseFloat(getComputedStyle(document.documentElement).fontSize)
      return { top: (list.current?.offsetTop ?? 0) + index * height, height }
    },
    [list],
  )
  const update = useCallback(() => {
    const element = scroller.current
    if (element === null || isWhole) return
    const { top, height } = locate(0)
    const from = (element.scrollTop - top) / height - MORE
    const first = Math.max(0, Math.floor(from / STEP) * STEP)
    const size = element.clientHeight / height + 2 * MORE
    const end = first + Math.ceil(size / STEP + 1) * STEP
    setRange((before) => (before.first === first && before.end === end ? before : { first, end }))
  }, [scroller, isWhole, locate])
  useLayoutEffect(update, [update, count])
  useEffect(() => {
    const element = scroller.current
    if (element === null) return undefined
    const observer = new ResizeObserver(update)
    observer.observe(element)
    return () => observer.disconnect()
  }, [scroller, update])
  if (isWhole) return { first: 0, end: count, locate, update }
  // The list may have become shorter since the last scroll event.
  const end = Math.min(count, range.end)
  return { first: Math.min(range.first, Math.max(0, count - WHOLE)), end, locate, update }
}
