/**
 * The visible part of the timeline. The browser scrolls; rows are rendered again only when the end
 * of the rendered part comes near, which is the view and as much on each side of it.
 *
 * DASH-V1 Without zoom the sheet fills the view.
 * DASH-V2 Zooming keeps the instant under the pointer in place.
 * DASH-V3 While the current time of an active run is in view, the view moves on when the time reaches
 *    its edge. After the reader scrolls away from the current time, the view stays.
 */
import {
  useCallback,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
  type RefObject,
} from 'react'

import {
  limitScale,
  computeFittingScale,
  pxToMs,
  msToPx,
  type TimeFrame,
  type Sheet,
} from './scale.ts'

/** Free space at the right edge, in pixels, so that ends are visible. */
const EDGE = 12
/** Position of the current time in the view after it has moved on, as a share of its width. */
const TURNED = 0.6

/** An area to bring into view, in pixels of the sheet. */
export interface Wanted {
  readonly fromPx: number
  readonly toPx: number
  readonly top: number
  readonly bottom: number
}

/** The visible part, and functions that change it. */
export interface Viewport {
  readonly scroller: RefObject<HTMLDivElement | null>
  /** Widths of the labels, of the view next to them, and of the sheet. */
  readonly gutterPx: number
  readonly viewPx: number
  readonly sheetPx: number
  readonly isFitting: boolean
  readonly frame: TimeFrame
  /** Vertical range of rendered rows. */
  readonly topPx: number
  readonly bottomPx: number
  readonly onScroll: () => void
  /** Zooms around a position in the view; by default its center. */
  readonly zoom: (factor: number, atPx?: number) => void
  readonly fit: () => void
  readonly reveal: (wanted: Wanted) => void
}

interface Size {
  readonly gutter: number
  readonly width: number
  readonly height: number
}

interface Page {
  readonly x: number
  readonly y: number
}

const NO_SIZE: Size = { gutter: 0, width: 0, height: 0 }

/** Returns the viewport of a sheet; it follows `nowMs` if set. */
export function useViewport(sheet: Sheet, nowMs: number | undefined): Viewport {
  const scroller = useRef<HTMLDivElement>(null)
  const { gutter, width, height } = useSize(scroller)
  const viewPx = Math.max(1, width - gutter - EDGE)
  const [wanted, setWanted] = useState<number>()
  const [page, setPage] = useState({ x: 0, y: 0 })
  const follows = useRef(true)
  const pendingLeft = useRef<number>(undefined)
  const allowed = wanted === undefined ? undefined : limitScale(wanted, sheet, viewPx)
  const scale = allowed ?? computeFittingScale(sheet, viewPx)
  const isFitting = allowed === undefined
  const { startMs } = sheet
  const pageX = isFitting ? 0 : page.x
  const sheetPx = Math.max(viewPx, (sheet.endMs - startMs) * scale)
  const frame = useMemo<TimeFrame>(
    () => ({
      originMs: startMs,
      scale,
      // The page may be that of a longer sheet, until the next scroll event.
      fromPx: Math.min(sheetPx, Math.max(0, (pageX - 1) * viewPx)),
      toPx: Math.min((pageX + 2) * viewPx, sheetPx + EDGE),
    }),
    [startMs, scale, pageX, viewPx, sheetPx],
  )
  const nowPx = nowMs === undefined ? undefined : msToPx(frame, nowMs)
  const turn = useCallback(() => {
    const element = scroller.current
    if (element !== null) setPage((before) => computePage(element, { viewPx, height, before }))
  }, [viewPx, height])
  // A changed page size changes the current page.
  useLayoutEffect(turn, [turn])
  const onScroll = useCallback(() => {
    turn()
    const left = scroller.current?.scrollLeft ?? 0
    if (nowPx !== undefined) follows.current = nowPx >= left && nowPx <= left + viewPx
  }, [turn, viewPx, nowPx])
  const zoom = useCallback(
    (factor: number, atPx = viewPx / 2) => {
      const element = scroller.current
      if (element === null) return
      const anchorMs = pxToMs(frame, element.scrollLeft + atPx)
      const next = limitScale(frame.scale * factor, sheet, viewPx)
      const nextScale = next ?? computeFittingScale(sheet, viewPx)
      const left = Math.max(0, (anchorMs - sheet.startMs) * nextScale - atPx)
      pendingLeft.current = left
      setWanted(next)
      setPage(({ y }) => ({ x: Math.floor(left / viewPx), y }))
    },
    [frame, sheet, viewPx],
  )
  useLayoutEffect(() => {
    const element = scroller.current
    if (element === null || pendingLeft.current === undefined) return
    element.scrollLeft = pendingLeft.current
    pendingLeft.current = undefined
  }, [scale])
  useLayoutEffect(() => {
    const element = scroller.current
    if (element === null || nowPx === undefined || isFitting || !follows.current) return
    if (nowPx > element.scrollLeft + viewPx) element.scrollLeft = nowPx - viewPx * TURNED
  }, [nowPx, isFitting, viewPx])
  const reveal = useCallback(
    (position: Wanted) => {
      if (scroller.current !== null) bringIntoView(scroller.current, position, viewPx)
    },
    [viewPx],
  )
  return {
    scroller,
    gutterPx: gutter,
    viewPx,
    sheetPx,
    isFitting,
    frame,
    topPx: (page.y - 1) * height,
    bottomPx: (page.y + 2) * height,
    onScroll,
    zoom,
    fit: useCallback(() => setWanted(undefined), []),
    reveal,
  }
}

/**
 * Scrolls a position into view when `key` changes, such as after a selection elsewhere, but not while
 * the reader uses the timeline.
 */
export function useRevealed(
  { scroller, reveal }: Viewport,
  positionNow: () => Wanted | undefined,
  key: string,
) {
  const shown = useRef<string>(undefined)
  useEffect(() => {
    if (shown.current === key) return
    const position = positionNow()
    if (position === undefined) return
    shown.current = key
    if (scroller.current?.matches(':hover, :focus-within') !== true) reveal(position)
  })
}

/** Scrolls as little as needed; areas wider than the view are shown from their start. */
function bringIntoView(
  element: HTMLElement,
  { fromPx, toPx, top, bottom }: Wanted,
  viewPx: number,
) {
  const ruler = element.querySelector<HTMLElement>('[data-gutter]')?.offsetHeight ?? 0
  const { scrollLeft, scrollTop, clientHeight } = element
  const isAside = fromPx < scrollLeft || Math.min(toPx, fromPx + viewPx) > scrollLeft + viewPx
  if (isAside) element.scrollLeft = Math.max(0, fromPx - viewPx / 4)
  if (top < scrollTop) element.scrollTop = top
  if (bottom > scrollTop + clientHeight - ruler) element.scrollTop = bottom - clientHeight + ruler
}

/** Returns the current page: the number of view widths and heights before it. */
function computePage(
  { scrollLeft, scrollTop }: HTMLElement,
  { viewPx, height, before }: { viewPx: number; height: number; before: Page },
): Page {
  const x = Math.floor(scrollLeft / viewPx)
  const y = Math.floor(scrollTop / Math.max(1, height))
  return before.x === x && before.y === y ? before : { x, y }
}

function isSame(one: Size, other: Size): boolean {
  return one.gutter === other.gutter && one.width === other.width && one.height === other.height
}

function useSize(scroller: RefObject<HTMLDivElement | null>): Size {
  const [size, setSize] = useState(NO_SIZE)
  useLayoutEffect(() => {
    const element = scroller.current
    if (element === null) return undefined
    const measure = (): void => {
      const gutter = element.querySelector<HTMLElement>('[data-gutter]')?.offsetWidth ?? 0
      const { clientWidth: width, clientHeight: height } = element
      setSize((before) =>
        isSame(before, { gutter, width, height }) ? before : { gutter, width, height },
      )
    }
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(element)
    return () => observer.disconnect()
  }, [scroller])
  return size
}
