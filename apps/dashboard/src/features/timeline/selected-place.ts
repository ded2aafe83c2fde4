/** Pure: where in its row the selected note is. */
import { lanePlace } from './row-geometry.ts'
import { pxOf, type TimeFrame } from './scale.ts'

import type { Selection } from '../../api/selection.ts'
import type { NoteSpan } from './spans.ts'
import type { TimelineRow } from './timeline-model.ts'

/** A frame round a note is not narrower than this, in pixels. */
const LEAST = 5

/** A box round the selected note, relative to the frame; undefined when a whole task is selected. */
export function selectedPlace(
  row: TimelineRow,
  selection: Selection,
  { frame, nowMs }: { readonly frame: TimeFrame; readonly nowMs: number },
) {
  // A whole task is in all of its row; nothing needs to be looked for.
  if (selection.iterationIndex === undefined && selection.toolCallId === undefined) return undefined
  for (const [index, lane] of row.lanes.entries()) {
    const note = lane.findLast((one) => isSelected(one, selection))
    if (note === undefined) continue
    const from = pxOf(frame, note.startMs)
    const to = pxOf(frame, note.endMs ?? Math.max(nowMs, note.startMs))
    if (to < frame.fromPx || from > frame.toPx) return undefined
    const { top, height } = lanePlace(row, index)
    const x = Math.max(from, frame.fromPx - LEAST) - frame.fromPx
    const width = Math.min(to, frame.toPx + LEAST) - frame.fromPx - x
    return { x: x - 1, y: top - 1, width: Math.max(LEAST, width) + 1, height: height + 2 }
  }
  return undefined
}

/** Whether a note is what was selected: the tool call, or else the model call of the turn. */
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
