/** Handles the pointer on the timeline: shows details, selects, drags, zooms. */
import { useEffect, useRef, useState, type MouseEvent, type PointerEvent } from 'react'

import {
  findLaneAt,
  findPositionAt,
  listPositions,
  type Paper,
  type TimelinePosition,
  type Pointed,
} from './positions.ts'

import type { Viewport } from './use-viewport.ts'

/** Tolerance around a note, in pixels. */
const SLACK = 4
/** Minimum distance of a drag, in pixels; shorter movements are clicks. */
const DRAG = 4

interface PointingOptions {
  readonly paper: Paper
  readonly viewport: Viewport
  readonly onOpen: (position: TimelinePosition) => void
  /** Called with the name of a row whose label was clicked. */
  readonly onLabel: (rowName: string) => void
}

interface Drag {
  readonly x: number
  readonly y: number
  readonly left: number
  readonly top: number
}

/** Returns handlers for the scrolling element, and the position under the pointer. */
export function usePointing({ paper, viewport, onOpen, onLabel }: PointingOptions) {
  const [pointed, setPointed] = useState<Pointed>()
  const [isDragging, setDragging] = useState(false)
  const drag = useRef<Drag>(undefined)
  const wasDragged = useRef(false)
  useWheelZoom(viewport)
  const find = (event: MouseEvent): Pointed | undefined =>
    findPointed(event, paper, viewport.gutterPx)
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
        const rowName = findLabelAt(event)
        if (rowName !== undefined) onLabel(rowName)
        else if (found !== undefined) onOpen(found.position)
      },
    },
  }
}

/**
 * Zooms with Ctrl and the wheel. React registers passive wheel listeners, which cannot prevent the
 * zoom of the page.
 */
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

/**
 * Returns the position under the pointer: notes take precedence over reviews, and reviews over
 * attempts.
 */
function findPointed(event: MouseEvent, paper: Paper, gutterPx: number): Pointed | undefined {
  if (!(event.target instanceof Element) || findLabelAt(event) !== undefined) return undefined
  const ruler = event.target.closest('[data-track="marks"]')?.getBoundingClientRect()
  if (ruler !== undefined) {
    const position = findPositionAt(
      listPositions(paper, -1, 0),
      event.clientX - ruler.left,
      2 * SLACK,
    )
    if (position === undefined) return undefined
    return { position, x: event.clientX, top: ruler.top, bottom: ruler.bottom }
  }
  const name = findRowNameAt(event)
  const box = event.target.closest('[data-row]')?.getBoundingClientRect()
  const index = paper.model.rows.findIndex((one) => one.name === name)
  const row = paper.model.rows[index]
  if (row === undefined || box === undefined) return undefined
  const px = event.clientX - box.left - gutterPx
  const lane = findLaneAt(row, event.clientY - box.top)
  const note =
    lane === undefined
      ? undefined
      : findPositionAt(listPositions(paper, index, lane + 1), px, SLACK)
  const position = note ?? findPositionAt(listPositions(paper, index, 0), px, 1)
  if (position === undefined) return undefined
  return { position, x: event.clientX, top: box.top, bottom: box.bottom }
}

function isOnButton({ target }: MouseEvent): boolean {
  return target instanceof Element && target.closest('button') !== null
}

function findRowNameAt({ target }: MouseEvent): string | undefined {
  const row = target instanceof Element ? target.closest<HTMLElement>('[data-row]') : null
  return row?.dataset['row']
}

/** Returns the row whose label is under the pointer. */
function findLabelAt(event: MouseEvent): string | undefined {
  const { target } = event
  return target instanceof Element && target.closest('[data-label]') !== null
    ? findRowNameAt(event)
    : undefined
}

function isSame(one: Pointed | undefined, other: Pointed | undefined): boolean {
  if (one === undefined || other === undefined) return one === other
  return (
    one.position.row === other.position.row &&
    one.position.track === other.position.track &&
    one.position.entries[0] === other.position.entries[0] &&
    one.position.entries.length === other.position.entries.length
  )
}
