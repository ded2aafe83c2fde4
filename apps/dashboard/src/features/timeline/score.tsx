/**
 * The sheet of a timeline: a ruler with marks of the whole run, and a row for each task. The
 * pointer shows details; a button, the cursor, moves from note to note with the keyboard.
 */
import { useMemo, useState, type KeyboardEvent } from 'react'
import { Minus, MoveHorizontal, Plus } from 'lucide-react'

import { cx } from '../../lib/cx.ts'
import { formatDuration, formatPlural } from '../../lib/format.ts'
import { IconButton } from '../../ui/controls/button.tsx'
import { Cursor, SpanCard } from './cursor.tsx'
import { Legend, Ruler } from './ruler.tsx'
import { computeRowTops, findSelectedPosition } from './positions.ts'
import { computeOpeningFactor, msToPx, type Sheet } from './scale.ts'
import { TimelineRowView } from './timeline-row.tsx'
import { usePointing } from './use-pointing.ts'
import { useRevealed, useViewport, type Viewport, type Wanted } from './use-viewport.ts'
import styles from './timeline.module.css'

import type { Selection } from '../../api/selection.ts'
import type { GroupView } from '../../api/task-groups.ts'
import type { Paper, TimelinePosition, Pointed } from './positions.ts'
import type { TimelineModel } from './timeline-model.ts'

export interface ScoreProps {
  readonly model: TimelineModel
  readonly sheet: Sheet
  readonly nowMs: number
  /** Whether the line of the current time moves, is set by a replay, or is hidden. */
  readonly playhead: 'live' | 'shown' | 'none'
  readonly selection: Selection | undefined
  readonly onSelect: (selection: Selection) => void
  readonly onView: (groupName: string, view: GroupView) => void
}

export function Score(props: ScoreProps) {
  const { model, sheet, nowMs, playhead, selection, onSelect } = props
  const viewport = useViewport(sheet, playhead === 'live' ? nowMs : undefined)
  const { scroller, gutterPx, sheetPx, frame, zoom, fit } = viewport
  // The first rendering finds out the width.
  const isMeasured = viewport.viewPx > 1
  const tops = useMemo(() => computeRowTops(model.rows), [model.rows])
  const heightPx = tops.at(-1) ?? 0
  const paper: Paper = useMemo(() => ({ model, frame, nowMs, tops }), [model, frame, nowMs, tops])
  const times = { startMs: sheet.startMs, nowMs }
  useRevealed(viewport, () => findWanted(selection, paper, viewport), toKey(selection))
  const [atCursor, setAtCursor] = useState<Pointed>()
  const openLabel = createLabelOpener(props)
  const open = (position: TimelinePosition): void => {
    const target = position.entries[0]?.target
    if (position.entries.length > 1) {
      const middle = (position.fromPx + position.toPx) / 2
      const left = scroller.current?.scrollLeft ?? 0
      zoom(computeOpeningFactor(position.toPx - position.fromPx, viewport.viewPx), middle - left)
    } else if (target !== undefined) onSelect(target)
    else if (position.entries[0]?.kind === 'group') openLabel(model.rows[position.row]?.name ?? '')
  }
  const pointing = usePointing({ paper, viewport, onOpen: open, onLabel: openLabel })
  const pointed = pointing.pointed ?? atCursor
  const onKeyDown = createZoomKeys({ zoom, fit })
  return (
    <div className={styles['timeline']}>
      <div
        ref={scroller}
        role="group"
        aria-label={`Timeline of ${formatPlural(model.taskCount, 'task')}, ${formatDuration(nowMs - sheet.startMs)}. Arrow keys scroll, + and - zoom, 0 shows all, Tab moves to the first entry.`}
        // Scrollable regions need to be reachable by keyboard.
        tabIndex={0}
        className={cx(styles['scroller'], pointing.isDragging && styles['dragging'])}
        onScroll={viewport.onScroll}
        onKeyDown={onKeyDown}
        {...pointing.handlers}
      >
        <div className={styles['paper']} style={{ width: gutterPx + sheetPx }}>
          <div className={styles['head']}>
            <div data-gutter className={styles['corner']}>
              <ZoomButtons {...viewport} />
            </div>
            <Ruler model={model} frame={frame} sheetPx={sheetPx} />
          </div>
          <div className={styles['rows']} style={{ height: heightPx }}>
            {model.rows.map((row, index) => {
              const [top = 0, bottom = 0] = tops.slice(index, index + 2)
              if (!isMeasured || bottom < viewport.topPx || top > viewport.bottomPx) return null
              return (
                <TimelineRowView
                  key={row.name}
                  row={row}
                  top={top}
                  frame={frame}
                  // A row without running work does not depend on the time.
                  nowMs={isOpen(row) ? nowMs : 0}
                  startMs={sheet.startMs}
                  selection={selection?.taskName === row.name ? selection : undefined}
                />
              )
            })}
            {playhead !== 'none' && (
              <div
                className={cx(styles['playhead'], styles[playhead])}
                style={{ insetInlineStart: gutterPx + msToPx(frame, nowMs) }}
              />
            )}
            <Cursor
              paper={paper}
              viewport={viewport}
              times={times}
              onOpen={open}
              onPoint={setAtCursor}
            />
          </div>
        </div>
      </div>
      <Legend model={model} />
      {pointed !== undefined && <SpanCard pointed={pointed} times={times} />}
    </div>
  )
}

/** Returns a function that selects the task of a row, or opens or folds its group. */
function createLabelOpener({
  model,
  onSelect,
  onView,
}: Pick<ScoreProps, 'model' | 'onSelect' | 'onView'>): (rowName: string) => void {
  return (rowName) => {
    const { group, view } = model.rows.find(({ name }) => name === rowName)?.group ?? {}
    if (group === undefined || view === undefined) onSelect({ taskName: rowName })
    else onView(group.name, { ...view, isOpen: !view.isOpen })
  }
}

function toKey({ taskName, iterationIndex, toolCallId }: Partial<Selection> = {}): string {
  return JSON.stringify([taskName, iterationIndex, toolCallId])
}

/** Returns the position of the selection; for a task its row, at the current scroll position. */
function findWanted(
  selection: Selection | undefined,
  { model, tops, nowMs }: Paper,
  viewport: Viewport,
): Wanted | undefined {
  const index = model.rows.findIndex(({ name }) => name === selection?.taskName)
  const row = model.rows[index]
  if (row === undefined || selection === undefined || viewport.viewPx <= 1) return undefined
  const [top = 0, bottom = 0] = tops.slice(index, index + 2)
  const left = viewport.scroller.current?.scrollLeft ?? 0
  const whole = { ...viewport.frame, fromPx: 0, toPx: Infinity }
  const box = findSelectedPosition(row, selection, { frame: whole, nowMs })
  return box === undefined
    ? { fromPx: left, toPx: left, top, bottom }
    : { fromPx: box.x, toPx: box.x + box.width, top, bottom }
}

function isOpen({ attempts, reviews, group, lanes }: TimelineModel['rows'][number]): boolean {
  const times = group === undefined ? [] : lanes.flatMap((lane) => lane.slice(-1))
  return [...attempts.slice(-1), ...reviews, ...times].some(({ endMs }) => endMs === undefined)
}

function createZoomKeys({ zoom, fit }: Pick<Viewport, 'zoom' | 'fit'>) {
  return (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    if (event.key === '+' || event.key === '=') zoom(1.5)
    else if (event.key === '-') zoom(1 / 1.5)
    else if (event.key === '0') fit()
    else return
    event.preventDefault()
  }
}

/** Zoom factor of the buttons. */
const STEP = 2

function ZoomButtons({ zoom, fit, isFitting }: Pick<Viewport, 'zoom' | 'fit' | 'isFitting'>) {
  return (
    <>
      <IconButton
        label="Zoom out"
        icon={<Minus />}
        className={styles['zoom']}
        disabled={isFitting}
        onClick={() => zoom(1 / STEP)}
      />
      <IconButton
        label="Zoom in"
        icon={<Plus />}
        className={styles['zoom']}
        onClick={() => zoom(STEP)}
      />
      <IconButton
        label="Show all"
        icon={<MoveHorizontal />}
        className={styles['zoom']}
        disabled={isFitting}
        onClick={fit}
      />
    </>
  )
}
