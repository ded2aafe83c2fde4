/**
 * A list that grows at its end, such as a log. Only what is in sight is in the page.
 *
 * - It opens at its end, and stays there while it grows, until the reader scrolls up or unfolds something.
 * - What the reader looks at does not move when something before or after it changes its height.
 * - What is brought into sight stays there while the list comes to be, until the reader moves by themselves.
 * - Who has scrolled up is offered the way back while the list grows.
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
  /** Height of an item before it was measured, in pixels. */
  readonly estimate: (item: T) => number
  /** Name of the list for who cannot see it. */
  readonly label: string
  /** Whether more is to come. */
  readonly isGrowing: boolean
  /** Item that is brought into sight when this changes. */
  readonly reveal?: number | undefined
}

/** How near to the end counts as being there, in pixels. */
const NEAR_END = 32

export function GrowingList<T>(props: GrowingListProps<T>) {
  const { items, keyOf, children, estimate, label, isGrowing, reveal } = props
  const scroller = useRef<HTMLDivElement>(null)
  /** Where the list was last scrolled to, by whomever. */
  const top = useRef(0)
  /** The reader is somewhere else than at the end, or has unfolded something there. */
  const [isHeld, setHeld] = useState(false)
  const keys = useKept(items.map((item) => keyOf(item)))
  // Another function has the places of all rows worked out anew.
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
    // Only a reader who scrolls by themselves sees a row that is late.
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
        // A region that scrolls can be scrolled with the keyboard.
        tabIndex={0}
        role="list"
        aria-label={label}
        className={styles['scroller']}
        onScroll={({ currentTarget: { scrollTop, clientHeight } }) => {
          // What was measured may be ahead of what is drawn.
          const isAtEnd = virtualizer.getTotalSize() - scrollTop - clientHeight < NEAR_END
          // Only a reader who goes up leaves the end: it also goes away by itself, when more comes.
          if (isAtEnd) setHeld(revealed.current !== undefined)
          else if (scrollTop < top.current) setHeld(true)
          top.current = scrollTop
        }}
        onWheel={letGo}
        onPointerDown={letGo}
        onKeyDown={letGo}
        onClickCapture={(event) => {
          if (unfolds(event)) setHeld(true)
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
        Jump to the newest
      </Button>
    </div>
  )
}

/** Keeps an item in sight from when it is to be revealed until it is let go. */
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
  // Near the end of a list that is not all there yet, an item cannot be brought to the top.
  useEffect(() => {
    if (revealed.current === undefined) return
    virtualizer.scrollToIndex(revealed.current, { align: 'start' })
  }, [reveal, count, virtualizer])
  const letGo = useCallback(() => {
    revealed.current = undefined
  }, [])
  return { revealed, letGo }
}

/** The list as it was, for as long as it has the same members. */
function useKept<T>(list: readonly T[]): readonly T[] {
  const kept = useRef(list)
  return useMemo(() => {
    const { current } = kept
    const isSame =
      current.length === list.length && current.every((member, at) => member === list[at])
    if (!isSame) kept.current = list
    return kept.current
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

/** Whether a click opens something, whose head should then stay where it is. */
function unfolds({ target }: MouseEvent): boolean {
  return target instanceof Element && target.closest('[aria-expanded],summary') !== null
}
