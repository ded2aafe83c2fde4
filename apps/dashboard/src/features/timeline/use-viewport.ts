/**
 * What of the timeline is in sight. The browser scrolls: nothing is drawn anew until one comes near the end
 * of what is drawn, which is the view itself and as much on each side of it.
 *
 * V1 Without a zoom of the reader the whole sheet fills the view.
 * V2 A zoom keeps the instant that one points at where it is.
 * V3 While a run goes on and now is in sight, the page is turned when now comes to its edge; who has
 *    scrolled away from now stays where they are.
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

import { allowedScale, fittingScale, msAt, pxOf, type TimeFrame, type Sheet } from './scale.ts'

/** Free at the right edge, in pixels: what ends there is seen to end. */
const EDGE = 12
/** Where now is in the view once its page was turned. */
const TURNED = 0.6

/** A part of a track or a row that is to be in sight, in pixels of the sheet. */
export interface Wanted {
  readonly fromPx: number
  readonly toPx: number
  readonly top: number
  readonly bottom: number
}

/** What is in sight, and how to change that. */
export interface Viewport {
  readonly scroller: RefObject<HTMLDivElement | null>
  /** Width of the labels at the left, of the view beside them, and of the sheet. */
  readonly gutterPx: number
  readonly viewPx: number
  readonly sheetPx: number
  readonly isFitting: boolean
  readonly frame: TimeFrame
  /** Rows are drawn that reach between these heights. */
  readonly topPx: number
  readonly bottomPx: number
  readonly onScroll: () => void
  /** Zooms about a place of the view, its middle when none is given. */
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

/** The viewport of a sheet; `nowMs` is followed when it is given. */
export function useViewport(sheet: Sheet, nowMs: number | undefined): Viewport {
  const scroller = useRef<HTMLDivElement>(null)
  const { gutter, width, height } = useSize(scroller)
  const viewPx = Math.max(1, width - gutter - EDGE)
  const [wanted, setWanted] = useState<number>()
  const [page, setPage] = useState({ x: 0, y: 0 })
  const follows = useRef(true)
  const pendingLeft = useRef<number>(undefined)
  const allowed = wanted === undefined ? undefined : allowedScale(wanted, sheet, viewPx)
  const scale = allowed ?? fittingScale(sheet, viewPx)
  const isFitting = allowed === undefined
  const { startMs } = sheet
  const pageX = isFitting ? 0 : page.x
  const sheetPx = Math.max(viewPx, (sheet.endMs - startMs) * scale)
  const frame = useMemo<TimeFrame>(
    () => ({
      originMs: startMs,
      scale,
      fromPx: Math.max(0, (pageX - 1) * viewPx),
      toPx: Math.min((pageX + 2) * viewPx, sheetPx + EDGE),
    }),
    [startMs, scale, pageX, viewPx, sheetPx],
  )
  const nowPx = nowMs === undefined ? undefined : pxOf(frame, nowMs)
  const turn = useCallback(() => {
    const element = scroller.current
    if (element !== null) setPage((before) => pageAt(element, { viewPx, height, before }))
  }, [viewPx, height])
  // Of pages of another size one is on another one.
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
      const anchorMs = msAt(frame, element.scrollLeft + atPx)
      const next = allowedScale(frame.scale * factor, sheet, viewPx)
      const nextScale = next ?? fittingScale(sheet, viewPx)
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
    (place: Wanted) => {
      if (scroller.current !== null) bringIntoView(scroller.current, place, viewPx)
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
 * Brings a place into sight when it becomes another one, such as a task that was chosen elsewhere; not
 * under the hands of the reader. `key` names the place.
 */
export function useRevealed(
  { scroller, reveal }: Viewport,
  placeNow: () => Wanted | undefined,
  key: string,
) {
  const shown = useRef<string>(undefined)
  useEffect(() => {
    if (shown.current === key) return
    const place = placeNow()
    if (place === undefined) return
    shown.current = key
    if (scroller.current?.matches(':hover, :focus-within') !== true) reveal(place)
  })
}

/** Scrolls as little as needed; what is wider than the view is shown from its start. */
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

/** The page that a reader is on: how many widths and heights of the view are before it. */
function pageAt(
  { scrollLeft, scrollTop }: HTMLElement,
  { viewPx, height, before }: { viewPx: number; height: number; before: Page },
): Page {
  const x = Math.floor(scrollLeft / viewPx)
  const y = Math.floor(scrollTop / Math.max(1, height))
  return before.x === x && before.y === y ? before : { x, y }
}

function useSize(scroller: RefObject<HTMLDivElement | null>): Size {
  const [size, setSize] = useState(NO_SIZE)
  useLayoutEffect(() => {
    const element = scroller.current
    if (element === null) return undefined
    const measure = (): void => {
      const gutter = element.querySelector<HTMLElement>('[data-gutter]')?.offsetWidth ?? 0
      setSize({ gutter, width: element.clientWidth, height: element.clientHeight })
    }
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(element)
    return () => observer.disconnect()
  }, [scroller])
  return size
}
