/**
 * A table of any length, of which only what is in sight is in the page. It is a table to screen readers
 * (`aria-rowcount`, `aria-rowindex`). Arrow keys, j and k, Home and End go from row to row: each row has one
 * link or button that stands for it, marked with `data-row`. The row that has the focus stays in the page.
 */
import { useImperativeHandle, useLayoutEffect, useRef, type ReactNode, type Ref } from 'react'

import { cx } from '../../lib/cx.ts'
import { useVirtualRows } from './use-virtual-rows.ts'
import styles from './virtual-table.module.css'

/** What a table can be told. */
export interface VirtualTableHandle {
  /** Goes to the first row, and takes the focus there. */
  readonly toTop: () => void
  readonly focusFirst: () => void
}

/** Settings of a table. */
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
