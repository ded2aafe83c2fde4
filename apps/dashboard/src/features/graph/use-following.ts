/** Keeps a row in sight, unless the reader looks elsewhere. */
import { useCallback, useEffect, useRef, type RefObject } from 'react'

/** How far a scroll may be from where it was put and still not be the reader's, in pixels. */
const SLACK = 2
/** Rows that are in sight below the one that is followed. */
const AHEAD = 3

/**
 * Brings the button of `taskName` into sight when it becomes another one; once the reader has scrolled,
 * only when that row was in sight until then. Gives what the scrolling element is to be told.
 */
export function useFollowing(
  scroller: RefObject<HTMLElement | null>,
  taskName: string | undefined,
): { readonly onScroll: () => void } {
  const follows = useRef(true)
  const placedAt = useRef(0)
  useEffect(() => {
    const element = scroller.current
    if (element === null || taskName === undefined || !follows.current) return
    const row = rowIn(element, taskName)
    if (row === undefined) return
    const { offsetTop, offsetHeight } = row
    const { scrollTop, clientHeight } = element
    // What comes next is in sight too: it runs often at the same time, or is about to.
    const below = Math.min(AHEAD * offsetHeight, clientHeight / 2)
    const isInPlace =
      offsetTop >= scrollTop && offsetTop + offsetHeight + below <= scrollTop + clientHeight
    if (!isInPlace) element.scrollTop = offsetTop - clientHeight / 3
    placedAt.current = element.scrollTop
  }, [scroller, taskName])
  const onScroll = useCallback(() => {
    const element = scroller.current
    if (element === null || Math.abs(element.scrollTop - placedAt.current) < SLACK) return
    const row = taskName === undefined ? undefined : rowIn(element, taskName)
    follows.current = row !== undefined && isInSight(element, row)
  }, [scroller, taskName])
  return { onScroll }
}

function rowIn(element: HTMLElement, taskName: string): HTMLElement | undefined {
  const rows = [...element.querySelectorAll<HTMLElement>('[data-task]')]
  return rows.find((row) => row.dataset['task'] === taskName)?.closest('li') ?? undefined
}

function isInSight({ scrollTop, clientHeight }: HTMLElement, row: HTMLElement): boolean {
  const { offsetTop, offsetHeight } = row
  return offsetTop + offsetHeight > scrollTop && offsetTop < scrollTop + clientHeight
}
