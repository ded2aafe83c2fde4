/**
 * A table of any length, of which only what is in sight is in the page. It is a table to screen readers
 * (`aria-rowcount`, `aria-rowindex`). Arrow keys, j and k, Home and End go from row to row: each row has one
 * link or button that stands for it, marked with `data-row`. The row that has the focus stays in the page.
 */
import {
  useImperativeHandle,
  useLayoutEffect,
  useRef,
  type ReactNode,
  type Ref,
  useEffect,
  useState,
  type KeyboardEvent,
  type RefObject,
} from 'react'
import { defaultRangeExtractor, useVirtualizer } from '@tanstack/react-virtual'

import { cx } from '../../lib/cx.ts'
import styles from './virtual-table.module.css'

/** What a table can be told. */
export interface VirtualTableHandle {
  /** Goes to the first row, and takes the focus there. */
  readonly toTop: () => void
  readonly focusFirst: () => void
}

export interface VirtualTableProps<T> {
  readonly ref?: Ref<VirtualTableHandle>
  readonly items: readonly T[]
  readonly keyOf: (item: T) => string
  /** The cells of a row. */
  readonly children: (item: T) => ReactNode
  /** The cells of the first row, which stays in sight. */
  readonly head: ReactNode
  /** Lays out the cells of a row. */
  readonly rowClass: string | undefined
  /** Height of a row before it was measured, in pixels. */
  readonly estimate: number
  /** Name of the table for who cannot see it. */
  readonly label: string
  /** Rows there are in all, also those that are not here yet. */
  readonly total: number
  /** Where the reader was; it is kept up to date. */
  readonly memory: { offset: number }
  /** Called when the end comes near. */
  readonly onEnd: () => void
  /** Called when the reader comes to the first row, and when they leave it. */
  readonly onTop: (isAtTop: boolean) => void
}

/** A table that renders what is in sight, and a little more. */
export function VirtualTable<T>(props: VirtualTableProps<T>) {
  const { items, keyOf, children, estimate, memory, onEnd, onTop, rowClass } = props
  const scroller = useRef<HTMLDivElement>(null)
  const { virtualizer, setFocused, focusFirst, onKeyDown } = useVirtualRows(scroller, {
    count: items.length,
    keyAt: (index) => {
      const item = items[index]
      return item === undefined ? undefined : keyOf(item)
    },
    estimate,
    offset: memory.offset,
    onEnd,
  })
  useImperativeHandle(props.ref, () => ({
    toTop: () => {
      virtualizer.scrollToOffset(0)
      scroller.current?.focus({ preventScroll: true })
    },
    focusFirst,
  }))
  useLayoutEffect(() => {
    const { current } = scroller
    return () => {
      // Who leaves in the frame in which they scrolled is gone before the event comes.
      if (current !== null) memory.offset = current.scrollTop
    }
  }, [memory])
  return (
    <div
      role="table"
      aria-label={props.label}
      aria-rowcount={props.total + 1}
      className={styles['table']}
    >
      <div role="rowgroup" className={styles['head']}>
        <div role="row" aria-rowindex={1} className={rowClass}>
          {props.head}
        </div>
      </div>
      <div
        ref={scroller}
        // A region that scrolls can be scrolled with the keyboard.
        tabIndex={0}
        role="rowgroup"
        className={styles['scroller']}
        onKeyDown={onKeyDown}
        onScroll={({ currentTarget: { scrollTop } }) => {
          memory.offset = scrollTop
          onTop(scrollTop < estimate / 2)
        }}
      >
        <div
          role="presentation"
          className={styles['space']}
          style={{ height: virtualizer.getTotalSize() }}
        >
          {virtualizer.getVirtualItems().map(({ key, index, start }) => {
            const item = items[index]
            if (item === undefined) return null
            return (
              <div
                key={key}
                ref={virtualizer.measureElement}
                data-index={index}
                role="row"
                aria-rowindex={index + 2}
                className={cx(styles['row'], rowClass)}
                style={{ transform: `translateY(${start}px)` }}
                onFocus={() => setFocused(keyOf(item))}
              >
                {children(item)}
              </div>
            )
          })}
        </div>
      </div>
    </div>
  )
}

interface RowsOptions {
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
function useVirtualRows(
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
