/** The pointer on the timeline: shows what is under it, opens it, drags the sheet, zooms. */
import { useEffect, useRef, useState, type MouseEvent, type PointerEvent } from 'react'

import { placeAt, placesOf, type Paper, type TimelinePlace, type Pointed } from './places.ts'
import { laneAt } from './row-geometry.ts'

import type { Selection } from '../../api/selection.ts'
import type { Viewport } from './use-viewport.ts'

/** How far beside a note one may point, in pixels. */
const SLACK = 4
/** Less is a click with an unsteady hand. */
const DRAG = 4

interface PointingOptions {
  readonly paper: Paper
  readonly tops: readonly number[]
  readonly viewport: Viewport
  readonly onOpen: (place: TimelinePlace) => void
  readonly onSelect: (selection: Selection) => void
}

interface Drag {
  readonly x: number
  readonly y: number
  readonly left: number
  readonly top: number
}

/** Handlers for the element that scrolls, and what is pointed at. */
export function usePointing({ paper, tops, viewport, onOpen, onSelect }: PointingOptions) {
  const [pointed, setPointed] = useState<Pointed>()
  const [isDragging, setDragging] = useState(false)
  const drag = useRef<Drag>(undefined)
  const wasDragged = useRef(false)
  useWheelZoom(viewport)
  const find = (event: MouseEvent): Pointed | undefined =>
    pointedAt(event, { paper, tops, gutterPx: viewport.gutterPx })
  return {
    pointed: isDragging ? undefined : pointed,
    isDragging,
    handlers: {
      onPointerDown(event: PointerEvent<HTMLElement>) {
        wasDragged.current = false
        if (event.pointerType !== 'mouse' || event.button !== 0 || isOnButton(event)) return
        const { scrollLeft: left, scrollTop: top } = event.currentTarget
        drag.current = { x: event.clientX, y: event.clientY, left, top }
      },
      onPointerMove(event: PointerEvent<HTMLElement>) {
        const from = drag.current
        if (from === undefined) {
          const found = event.pointerType === 'mouse' ? find(event) : undefined
          setPointed((before) => (isSame(before, found) ? before : found))
          return
        }
        const [dx, dy] = [event.clientX - from.x, event.clientY - from.y]
        if (!wasDragged.current && Math.hypot(dx, dy) < DRAG) return
        if (!wasDragged.current) {
          wasDragged.current = true
          setDragging(true)
          event.currentTarget.setPointerCapture(event.pointerId)
        }
        event.currentTarget.scrollLeft = from.left - dx
        event.currentTarget.scrollTop = from.top - dy
      },
      onPointerUp: () => {
        drag.current = undefined
        setDragging(false)
      },
      onPointerCancel: () => {
        drag.current = undefined
        setDragging(false)
      },
      onPointerLeave: () => setPointed(undefined),
      onClick(event: MouseEvent<HTMLElement>) {
        if (wasDragged.current || isOnButton(event)) return
        const found = find(event)
        const taskName = labelAt(event)
        if (taskName !== undefined) onSelect({ taskName })
        else if (found !== undefined) onOpen(found.place)
      },
    },
  }
}

/** The page would zoom otherwise, which a listener of React cannot keep it from. */
function useWheelZoom({ scroller, zoom, gutterPx }: Viewport): void {
  const latest = useRef({ zoom, gutterPx })
  useEffect(() => {
    latest.current = { zoom, gutterPx }
  })
  useEffect(() => {
    const element = scroller.current
    if (element === null) return undefined
    const onWheel = (event: WheelEvent): void => {
      if (!event.ctrlKey && !event.metaKey) return
      event.preventDefault()
      const { left } = element.getBoundingClientRect()
      const at = event.clientX - left - latest.current.gutterPx
      latest.current.zoom(Math.exp(-Math.max(-120, Math.min(120, event.deltaY)) / 200), at)
    }
    element.addEventListener('wheel', onWheel, { passive: false })
    return () => element.removeEventListener('wheel', onWheel)
  }, [scroller])
}

/** What is under the pointer: a note before a gate, a gate before the attempt that it holds. */
function pointedAt(
  event: MouseEvent,
  {
    paper,
    tops,
    gutterPx,
  }: { readonly paper: Paper; readonly tops: readonly number[]; readonly gutterPx: number },
): Pointed | undefined {
  if (!(event.target instanceof Element) || labelAt(event) !== undefined) return undefined
  const ruler = event.target.closest('[data-track="marks"]')?.getBoundingClientRect()
  if (ruler !== undefined) {
    const place = placeAt(placesOf(paper, -1, 0), event.clientX - ruler.left, 2 * SLACK)
    if (place === undefined) return undefined
    return { place, x: event.clientX, top: ruler.top, bottom: ruler.bottom }
  }
  const name = rowNameAt(event)
  const box = event.target.closest('[data-row]')?.getBoundingClientRect()
  const index = paper.model.rows.findIndex(({ task }) => task.name === name)
  const row = paper.model.rows[index]
  if (row === undefined || box === undefined || tops[index] === undefined) return undefined
  const px = event.clientX - box.left - gutterPx
  const lane = laneAt(row, event.clientY - box.top)
  const note = lane === undefined ? undefined : placeAt(placesOf(paper, index, lane + 1), px, SLACK)
  const place = note ?? placeAt(placesOf(paper, index, 0), px, 1)
  if (place === undefined) return undefined
  return { place, x: event.clientX, top: box.top, bottom: box.bottom }
}

function isOnButton({ target }: MouseEvent): boolean {
  return target instanceof Element && target.closest('button') !== null
}

function rowNameAt({ target }: MouseEvent): string | undefined {
  const row = target instanceof Element ? target.closest<HTMLElement>('[data-row]') : null
  return row?.dataset['row']
}

/** The task whose name is under the pointer. */
function labelAt(event: MouseEvent): string | undefined {
  const { target } = event
  return target instanceof Element && target.closest('[data-label]') !== null
    ? rowNameAt(event)
    : undefined
}

function isSame(one: Pointed | undefined, other: Pointed | undefined): boolean {
  if (one === undefined || other === undefined) return one === other
  return (
    one.place.row === other.place.row &&
    one.place.track === other.place.track &&
    one.place.mark === other.place.mark &&
    one.place.spans[0] === other.place.spans[0] &&
    one.place.spans.length === other.place.spans.length
  )
}
