/**
 * Lists of any length; only visible rows are in the page.
 *
 * A `GrowingList`, such as a log, opens at its end and stays there while it grows, until the reader
 * scrolls up or unfolds something. Rows in view do not move when another row changes its height. A
 * revealed row stays in view while the list loads, until the reader scrolls.
 *
 * A `VirtualTable` is a table for screen readers (`aria-rowcount`, `aria-rowindex`). Arrow keys, j
 * and k, Home and End move from row to row: each row has one link or button marked with `data-row`.
 * The focused row stays in the page.
 */
import {
  defaultRangeExtractor,
  elementScroll,
  useVirtualizer,
  type Virtualizer,
} from '@tanstack/react-virtual'
import { ArrowDown } from 'lucide-react'
import {
  useCallback,
  useEffect,
  useImperativeHandle,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
  type HTMLAttributes,
  type KeyboardEvent,
  type MouseEvent,
  type ReactNode,
  type Ref,
  type UIEvent,
} from 'react'

import { cx } from '../../lib/cx.ts'
import { Button } from '../controls/button.tsx'
import styles from './virtual-list.module.css'

interface ListProps<T> {
  readonly items: readonly T[]
  readonly keyOf: (item: T) => string | number
  /** Renders an item. */
  readonly children: (item: T) => ReactNode
  /** Accessible name. */
  readonly label: string
}

type Rows = Virtualizer<HTMLDivElement, Element>

/** The rows in view and a few more, in the space of all rows; `row` returns attributes of a row. */
function VisibleRows<T>({
  items,
  rows,
  row,
  children,
}: Pick<ListProps<T>, 'items' | 'children'> & {
  readonly rows: Rows
  readonly row: (item: T, index: number) => HTMLAttributes<HTMLDivElement>
}) {
  return (
    <div role="presentation" className={styles['space']} style={{ height: rows.getTotalSize() }}>
      {rows.getVirtualItems().map(({ key, index, start }) => {
        const item = items[index]
        if (item === undefined) return null
        const { className, ...rest } = row(item, index)
        return (
          <div
            key={key}
            ref={rows.measureElement}
            data-index={index}
            className={cx(styles['row'], className)}
            style={{ transform: `translateY(${start}px)` }}
            {...rest}
          >
            {children(item)}
          </div>
        )
      })}
    </div>
  )
}

export interface GrowingListProps<T> extends ListProps<T> {
  /** Estimated height of an unmeasured item, in pixels. */
  readonly estimate: (item: T) => number
  /** Whether more items are expected. */
  readonly isGrowing: boolean
  /** Index of the item to scroll into view; a change scrolls again. */
  readonly reveal?: number | undefined
}

/** Distance from the end that counts as the end, in pixels. */
const NEAR_END_PX = 32

/** Virtualizes the rows of a list that follows its end unless the reader looks elsewhere. */
function useGrowingRows<T>({ items, keyOf, estimate, reveal }: GrowingListProps<T>) {
  const scroller = useRef<HTMLDivElement>(null)
  /** Last scroll position, set by the reader or by code. */
  const top = useRef(0)
  /** Whether the list does not follow its end, because the reader scrolled or unfolded something. */
  const [isHeld, setHeld] = useState(false)
  const keys = useStableList(items.map((item) => keyOf(item)))
  // A new function would make the virtualizer recompute the positions of all rows.
  const getItemKey = useCallback((index: number) => keys[index] ?? index, [keys])
  const rows = useVirtualizer({
    count: items.length,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => {
      const item = items[index]
      return item === undefined ? 0 : estimate(item)
    },
    overscan: 4,
    scrollToFn: (offset, options, instance) => {
      elementScroll(offset, options, instance)
      top.current = instance.scrollElement?.scrollTop ?? 0
    },
    getItemKey,
    // Late rows are noticed only while the reader scrolls.
    useFlushSync: isHeld,
  })
  const total = rows.getTotalSize()
  useLayoutEffect(() => {
    const element = scroller.current
    if (isHeld || element === null) return
    element.scrollTop = element.scrollHeight
    top.current = element.scrollTop
  }, [isHeld, total])
  const revealed = useRef<number>(undefined)
  useEffect(() => {
    if (reveal === undefined || reveal < 0) return
    revealed.current = reveal
    setHeld(true)
  }, [reveal])
  // An item near the end of a partly loaded list cannot be scrolled to the top yet, so repeat when
  // `count` changes.
  useEffect(() => {
    if (revealed.current !== undefined) rows.scrollToIndex(revealed.current, { align: 'start' })
  }, [reveal, items.length, rows])
  const letGo = (): void => {
    revealed.current = undefined
  }
  const onScroll = ({ currentTarget: { scrollTop, clientHeight } }: UIEvent<HTMLElement>): void => {
    // The measured size may be ahead of the rendered size.
    const isAtEnd = rows.getTotalSize() - scrollTop - clientHeight < NEAR_END_PX
    // Only scrolling up leaves the end: the distance also grows when items are added.
    if (isAtEnd) setHeld(revealed.current !== undefined)
    else if (scrollTop < top.current) setHeld(true)
    top.current = scrollTop
  }
  return { scroller, rows, isHeld, setHeld, letGo, onScroll }
}

/** A list that grows at its end. */
export function GrowingList<T>(props: GrowingListProps<T>) {
  const { items, label, isGrowing } = props
  const { scroller, rows, isHeld, setHeld, letGo, onScroll } = useGrowingRows(props)
  return (
    <div className={styles['frame']}>
      <div
        ref={scroller}
        // Scrollable regions need to be reachable by keyboard.
        tabIndex={0}
        role="list"
        aria-label={label}
        className={styles['scroller']}
        onScroll={onScroll}
        onWheel={letGo}
        onPointerDown={letGo}
        onKeyDown={letGo}
        onClickCapture={(event) => {
          if (isFoldClick(event)) setHeld(true)
        }}
      >
        <VisibleRows
          items={items}
          rows={rows}
          row={(_, index) => ({
            role: 'listitem',
            'aria-setsize': items.length,
            'aria-posinset': index + 1,
          })}
        >
          {props.children}
        </VisibleRows>
      </div>
      {isGrowing && isHeld && (
        <div className={styles['newest']}>
          <Button
            size="s"
            icon={<ArrowDown />}
            onClick={() => {
              letGo()
              setHeld(false)
            }}
          >
            Jump to latest
          </Button>
        </div>
      )}
    </div>
  )
}

/** Returns the same array for as long as its members are the same. */
function useStableList<T>(list: readonly T[]): readonly T[] {
  const stable = useRef(list)
  return useMemo(() => {
    const { current } = stable
    const isSame =
      current.length === list.length && current.every((member, at) => member === list[at])
    if (!isSame) stable.current = list
    return stable.current
  }, [list])
}

/** Whether a click opens or closes something; its heading must then stay in place. */
function isFoldClick({ target }: MouseEvent): boolean {
  return target instanceof Element && target.closest('[aria-expanded],summary') !== null
}

/** Methods of a table. */
export interface VirtualTableHandle {
  /** Scrolls to the first row and focuses the table. */
  readonly toTop: () => void
  readonly focusFirst: () => void
}

export interface VirtualTableProps<T> extends ListProps<T> {
  readonly ref?: Ref<VirtualTableHandle>
  /** Cells of the header row, which stays visible. */
  readonly head: ReactNode
  /** Class that lays out the cells of a row. */
  readonly rowClass: string | undefined
  /** Estimated height of an unmeasured row, in pixels. */
  readonly estimate: number
  /** Total number of rows, including those not loaded yet; undefined when it is not known. */
  readonly total: number | undefined
  /** Scroll position, restored on mount and updated while scrolling. */
  readonly memory: { offset: number }
  /** Called when the last loaded rows come near. */
  readonly onEnd: () => void
  /** Called when the first row comes into view or leaves it. */
  readonly onTop: (isAtTop: boolean) => void
}

/** Number of rows before the end that count as near it. */
const NEAR_END_ROWS = 20

/** Virtualizes the rows of a table, and moves the focus from row to row. */
function useTableRows<T>({ items, keyOf, estimate, memory, onEnd, ref }: VirtualTableProps<T>) {
  const scroller = useRef<HTMLDivElement>(null)
  const [focused, setFocused] = useState<string | number>()
  const [wanted, setWanted] = useState<{ readonly index: number }>()
  const count = items.length
  const focusedAt = focused === undefined ? -1 : items.findIndex((item) => keyOf(item) === focused)
  const rows: Rows = useVirtualizer({
    count,
    getScrollElement: () => scroller.current,
    estimateSize: () => estimate,
    overscan: 8,
    initialOffset: memory.offset,
    getItemKey: (index) => {
      const item = items[index]
      return item === undefined ? index : keyOf(item)
    },
    rangeExtractor: (range) => {
      const kept = [focusedAt, wanted?.index ?? -1].filter((index) => index >= 0)
      const all = new Set([...defaultRangeExtractor(range), ...kept])
      return [...all].toSorted((one, other) => one - other)
    },
  })
  const focusRow = (index: number): void => {
    rows.scrollToIndex(index, { align: 'auto' })
    setWanted({ index })
  }
  useLayoutEffect(() => {
    if (wanted === undefined) return
    const selector = `[data-index="${wanted.index}"] [data-row]`
    scroller.current?.querySelector<HTMLElement>(selector)?.focus({ preventScroll: true })
  }, [wanted])
  const last = rows.range?.endIndex ?? -1
  useEffect(() => {
    if (last >= count - NEAR_END_ROWS) onEnd()
  }, [last, count, onEnd])
  useImperativeHandle(ref, () => ({
    toTop: () => {
      rows.scrollToOffset(0)
      scroller.current?.focus({ preventScroll: true })
    },
    focusFirst: () => focusRow(rows.range?.startIndex ?? 0),
  }))
  useLayoutEffect(() => {
    const { current } = scroller
    return () => {
      // If the reader leaves in the frame in which they scrolled, the scroll event never fires.
      if (current !== null) memory.offset = current.scrollTop
    }
  }, [memory])
  const onKeyDown = (event: KeyboardEvent): void => {
    const from = focused === undefined ? (rows.range?.startIndex ?? 0) - 1 : focusedAt
    const index = findRowForKey(event, from, count)
    if (index === undefined) return
    event.preventDefault()
    focusRow(index)
  }
  return { scroller, rows, setFocused, onKeyDown }
}

/** A table that loads more rows at its end. */
export function VirtualTable<T>(props: VirtualTableProps<T>) {
  const { items, keyOf, estimate, memory, rowClass } = props
  const { scroller, rows, setFocused, onKeyDown } = useTableRows(props)
  return (
    <div
      role="table"
      aria-label={props.label}
      aria-rowcount={props.total === undefined ? -1 : props.total + 1}
      className={styles['frame']}
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
        className={cx(styles['scroller'], styles['tableRows'])}
        onKeyDown={onKeyDown}
        onScroll={({ currentTarget: { scrollTop } }) => {
          memory.offset = scrollTop
          props.onTop(scrollTop < estimate / 2)
        }}
      >
        <VisibleRows
          items={items}
          rows={rows}
          row={(item, index) => ({
            role: 'row',
            'aria-rowindex': index + 2,
            className: rowClass,
            onFocus: () => setFocused(keyOf(item)),
          })}
        >
          {props.children}
        </VisibleRows>
      </div>
    </div>
  )
}

/**
 * Returns the row that a key press leads to from row `at` of `count` (-1: none); undefined when the
 * key does not move.
 */
export function findRowForKey(
  { key, ctrlKey, metaKey, altKey }: Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'metaKey' | 'altKey'>,
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
