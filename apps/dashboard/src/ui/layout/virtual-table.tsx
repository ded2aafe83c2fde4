/**
 * A table of any length; only visible rows are in the page. For screen readers it is a table
 * (`aria-rowcount`, `aria-rowindex`). Arrow keys, j and k, Home and End move from row to row: each
 * row has one link or button marked with `data-row`. The focused row stays in the page.
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

/** Methods of a table. */
export interface VirtualTableHandle {
  /** Scrolls to the first row and focuses the table. */
  readonly toTop: () => void
  readonly focusFirst: () => void
}

export interface VirtualTableProps<T> {
  readonly ref?: Ref<VirtualTableHandle>
  readonly items: readonly T[]
  readonly keyOf: (item: T) => string
  /** Renders the cells of a row. */
  readonly children: (item: T) => ReactNode
  /** Cells of the header row, which stays visible. */
  readonly head: ReactNode
  /** Class that lays out the cells of a row. */
  readonly rowClass: string | undefined
  /** Estimated height of an unmeasured row, in pixels. */
  readonly estimate: number
  /** Accessible name of the table. */
  readonly label: string
  /** Total number of rows, including those not loaded yet; undefined when it is not known. */
  readonly total: number | undefined
  /** Scroll position, restored on mount and updated while scrolling. */
  readonly memory: { offset: number }
  /** Called when the last loaded rows come near. */
  readonly onEnd: () => void
  /** Called when the first row comes into view or leaves it. */
  readonly onTop: (isAtTop: boolean) => void
}

/** A table that renders the visible rows and a few more. */
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
      // If the reader leaves in the frame in which they scrolled, the scroll event never fires.
      if (current !== null) memory.offset = current.scrollTop
    }
  }, [memory])
  return (
    <div
      role="table"
      aria-label={props.label}
      aria-rowcount={props.total === undefined ? -1 : props.total + 1}
      className={styles['table']}
    >
      <div role="rowgroup" className={styles['head']}>
        <div role="row" aria-rowindex={1} className={rowClass}>
          {props.head}
        </div>
      </div>
      <div
        ref={scroller}
        // Scrollable regions need to be reachable by keyboard.
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
  /** Estimated height of an unmeasured row, in pixels. */
  readonly estimate: number
  /** Initial scroll position. */
  readonly offset: number
  /** Called when the last loaded rows come near. */
  readonly onEnd: () => void
}

/** Number of rows before the end that count as near it. */
const NEAR_END = 20

/** Virtualizes the rows of `scroller` and handles the keyboard. */
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
      addIndexes(defaultRangeExtractor(range), [indexOfKey(focused), wanted?.index ?? -1]),
  })
  function indexOfKey(key: string | undefined): number {
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
    const selector = `[data-index="${wanted.index}"] [data-row]`
    scroller.current?.querySelector<HTMLElement>(selector)?.focus({ preventScroll: true })
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
        focused === undefined ? (virtualizer.range?.startIndex ?? 0) - 1 : indexOfKey(focused)
      const index = findRowForKey(event, from, count)
      if (index === undefined) return
      event.preventDefault()
      focusRow(index)
    },
  }
}

function addIndexes(range: readonly number[], indexes: readonly number[]): number[] {
  const more = indexes.filter((index) => index >= 0)
  return [...new Set([...range, ...more])].toSorted((one, other) => one - other)
}

/** A key press. */
type PressedKey = Readonly<Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'metaKey' | 'altKey'>>

/**
 * Returns the row that a key leads to from row `at` of `count` (-1: none); undefined when the key
 * does not move.
 */
export function findRowForKey(
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
