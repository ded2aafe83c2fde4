/**
 * A list that grows at its end, such as a log. Only visible rows are in the page.
 *
 * - It opens at its end and stays there while it grows, until the reader scrolls up or unfolds
 *   something.
 * - Rows in view do not move when a row before or after them changes its height.
 * - A revealed row stays in view while the list loads, until the reader scrolls.
 * - A reader who has scrolled up gets a button that leads back to the end while the list grows.
 */
import {
  elementScroll,
  useVirtualizer,
  type VirtualItem,
  type Virtualizer,
} from '@tanstack/react-virtual'
import { ArrowDown } from 'lucide-react'
import {
  useCallback,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
  type MouseEvent,
  type ReactNode,
} from 'react'

import { Button } from '../controls/button.tsx'
import styles from './growing-list.module.css'

export interface GrowingListProps<T> {
  readonly items: readonly T[]
  readonly keyOf: (item: T) => string | number
  readonly children: (item: T) => ReactNode
  /** Estimated height of an unmeasured item, in pixels. */
  readonly estimate: (item: T) => number
  /** Accessible name of the list. */
  readonly label: string
  /** Whether more items are expected. */
  readonly isGrowing: boolean
  /** Index of the item to scroll into view; a change scrolls again. */
  readonly reveal?: number | undefined
}

/** Distance from the end that counts as the end, in pixels. */
const NEAR_END = 32

export function GrowingList<T>(props: GrowingListProps<T>) {
  const { items, keyOf, children, estimate, label, isGrowing, reveal } = props
  const scroller = useRef<HTMLDivElement>(null)
  /** Last scroll position, set by the reader or by code. */
  const top = useRef(0)
  /**
   * Whether the list does not follow its end, because the reader scrolled away or unfolded
   * something.
   */
  const [isHeld, setHeld] = useState(false)
  const keys = useStableList(items.map((item) => keyOf(item)))
  // A new function would make the virtualizer recompute the positions of all rows.
  const getItemKey = useCallback((index: number) => keys[index] ?? index, [keys])
  const virtualizer = useVirtualizer({
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
  const total = virtualizer.getTotalSize()
  useLayoutEffect(() => {
    const element = scroller.current
    if (isHeld || element === null) return
    element.scrollTop = element.scrollHeight
    top.current = element.scrollTop
  }, [isHeld, total])
  const { revealed, letGo } = useRevealed(virtualizer, { reveal, count: items.length, setHeld })
  return (
    <div className={styles['frame']}>
      <div
        ref={scroller}
        // Scrollable regions need to be reachable by keyboard.
        tabIndex={0}
        role="list"
        aria-label={label}
        className={styles['scroller']}
        onScroll={({ currentTarget: { scrollTop, clientHeight } }) => {
          // The measured size may be ahead of the rendered size.
          const isAtEnd = virtualizer.getTotalSize() - scrollTop - clientHeight < NEAR_END
          // Only scrolling up leaves the end: the distance also grows when items are added.
          if (isAtEnd) setHeld(revealed.current !== undefined)
          else if (scrollTop < top.current) setHeld(true)
          top.current = scrollTop
        }}
        onWheel={letGo}
        onPointerDown={letGo}
        onKeyDown={letGo}
        onClickCapture={(event) => {
          if (isFoldClick(event)) setHeld(true)
        }}
      >
        <div role="presentation" className={styles['space']} style={{ height: total }}>
          {virtualizer.getVirtualItems().map((row) => {
            const item = items[row.index]
            if (item === undefined) return null
            return (
              <Item
                key={row.key}
                row={row}
                count={items.length}
                measure={virtualizer.measureElement}
              >
                {children(item)}
              </Item>
            )
          })}
        </div>
      </div>
      {isGrowing && isHeld && (
        <ToNewest
          go={() => {
            letGo()
            setHeld(false)
          }}
        />
      )}
    </div>
  )
}

function ToNewest({ go }: { readonly go: () => void }) {
  return (
    <div className={styles['newest']}>
      <Button size="s" icon={<ArrowDown />} onClick={go}>
        Jump to latest
      </Button>
    </div>
  )
}

/** Keeps an item in view after it is revealed, until `letGo` is called. */
function useRevealed(
  virtualizer: Pick<Virtualizer<HTMLDivElement, Element>, 'scrollToIndex'>,
  {
    reveal,
    count,
    setHeld,
  }: {
    readonly reveal: number | undefined
    readonly count: number
    readonly setHeld: (isHeld: boolean) => void
  },
) {
  const revealed = useRef<number>(undefined)
  useEffect(() => {
    if (reveal === undefined || reveal < 0) return
    revealed.current = reveal
    setHeld(true)
  }, [reveal, setHeld])
  // An item near the end of a partly loaded list cannot be scrolled to the top yet, so repeat when
  // `count` changes.
  useEffect(() => {
    if (revealed.current === undefined) return
    virtualizer.scrollToIndex(revealed.current, { align: 'start' })
  }, [reveal, count, virtualizer])
  const letGo = useCallback(() => {
    revealed.current = undefined
  }, [])
  return { revealed, letGo }
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

function Item({
  row: { index, start },
  count,
  measure,
  children,
}: {
  readonly row: VirtualItem
  readonly count: number
  readonly measure: (element: HTMLElement | null) => void
  readonly children: ReactNode
}) {
  return (
    <div
      ref={measure}
      data-index={index}
      role="listitem"
      aria-setsize={count}
      aria-posinset={index + 1}
      className={styles['item']}
      style={{ transform: `translateY(${start}px)` }}
    >
      {children}
    </div>
  )
}

/** Whether a click opens or closes something; its heading must then stay in place. */
function isFoldClick({ target }: MouseEvent): boolean {
  return target instanceof Element && target.closest('[aria-expanded],summary') !== null
}
