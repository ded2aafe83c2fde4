/** Locates the selected note in its row. Pure. */
import { computeLanePosition } from './row-geometry.ts'
import { msToPx, type TimeFrame } from './scale.ts'

import type { Selection } from '../../api/selection.ts'
import type { NoteSpan } from './spans.ts'
import type { TimelineRow } from './timeline-model.ts'

/** Minimum width of the frame around a note, in pixels. */
const LEAST = 5

/**
 * Returns a box around the selected note, relative to the frame; undefined if a whole task is
 * selected.
 */
export function findSelectedPosition(
  row: TimelineRow,
  selection: Selection,
  { frame, nowMs }: { readonly frame: TimeFrame; readonly nowMs: number },
) {
  // A whole task is represented by its row.
  if (selection.iterationIndex === undefined && selection.toolCallId === undefined) return undefined
  for (const [index, lane] of row.lanes.entries()) {
    const note = lane.findLast((one) => isSelected(one, selection))
    if (note === undefined) continue
    const from = msToPx(frame, note.startMs)
    const to = msToPx(frame, note.endMs ?? Math.max(nowMs, note.startMs))
    if (to < frame.fromPx || from > frame.toPx) return undefined
    const { top, height } = computeLanePosition(row, index)
    const x = Math.max(from, frame.fromPx - LEAST) - frame.fromPx
    const width = Math.min(to, frame.toPx + LEAST) - frame.fromPx - x
    return { x: x - 1, y: top - 1, width: Math.max(LEAST, width) + 1, height: height + 2 }
  }
  return undefined
}

/** Whether a note is the selected tool call, or the model call of the selected turn. */
export function isSelected(
  { kind, target }: NoteSpan,
  { iterationIndex, toolCallId }: Selection,
): boolean {
  if (iterationIndex === undefined && toolCallId === undefined) return false
  if (toolCallId !== undefined)
    return (
      kind === 'tool' &&
      target.toolCallId === toolCallId &&
      (iterationIndex === undefined || target.iterationIndex === iterationIndex)
    )
  return kind === 'model' && target.iterationIndex === iterationIndex
}
