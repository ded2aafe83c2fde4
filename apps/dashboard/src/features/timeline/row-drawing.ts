/**
 * Pure: a row as a few paths, one for each look, however many notes it has. A note is a solid head where it
 * begins and a lighter tail for as long as it lasts; where notes are too dense to tell apart, a block is as
 * strong as its time was busy.
 */
import { blocksOf, type Block } from './blocks.ts'
import { lanePlace, type LanePlace } from './row-geometry.ts'

import type { TimeFrame } from './scale.ts'
import type { NoteSpan } from './spans.ts'
import type { TimelineRow } from './timeline-model.ts'

/** Width of the head of a note. */
const HEAD = 2.5
/** Narrower notes have no name. */
const NAMED = 44
/** About what a letter takes, and what stays free. */
const LETTER = 6
const AROUND = 10

export interface NoteName {
  readonly x: number
  readonly y: number
  readonly text: string
}

/** A row, drawn: paths by the name of their look, such as `tail-model`, and names. */
export interface RowDrawing {
  readonly paths: Readonly<Record<string, string>>
  readonly names: readonly NoteName[]
}

/** Draws what of a row is in a frame; places are relative to the start of the frame. */
export function drawRow(row: TimelineRow, frame: TimeFrame, nowMs: number): RowDrawing {
  const paths: Record<string, string> = {}
  const names: NoteName[] = []
  const add: Drawn['add'] = (look, path) => {
    paths[look] = (paths[look] ?? '') + path
  }
  for (const [index, lane] of row.lanes.entries()) {
    const place = lanePlace(row, index)
    for (const block of blocksOf(lane, frame, nowMs)) {
      const note = lane[block.first]
      if (note === undefined) continue
      const drawn = { box: boxOf(block, frame, place), add }
      if (block.first < block.last) {
        drawBlock({ block, kind: note.kind, frame }, drawn)
        continue
      }
      drawNote(note, drawn)
      const name = nameIn(note, drawn.box)
      if (name !== undefined) names.push(name)
    }
  }
  return { paths, names }
}

interface Box {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
  /** Whether its start is in the frame. */
  readonly hasStart: boolean
}

/** A box, and where to put paths by the name of their look. */
interface Drawn {
  readonly box: Box
  readonly add: (look: string, path: string) => void
}

/** A note that reaches far beyond a frame is cut: numbers of millions are drawn badly. */
function boxOf({ fromPx, toPx }: Block, frame: TimeFrame, { top, height }: LanePlace): Box {
  const from = Math.max(fromPx, frame.fromPx - AROUND)
  const to = Math.min(toPx, frame.toPx + AROUND)
  return {
    x: from - frame.fromPx,
    y: top,
    // A hairline of paper keeps notes apart that follow each other at once.
    width: Math.max(1, to - from - 0.75),
    height,
    hasStart: from === fromPx,
  }
}

function drawBlock(
  {
    block,
    kind,
    frame,
  }: { readonly block: Block; readonly kind: string; readonly frame: TimeFrame },
  { box, add }: Drawn,
): void {
  add(`${densityLook(block.density)}-${kind}`, rectangle(box))
  for (const px of block.failedPx) {
    add('head-failed', rectangle({ ...box, x: px - frame.fromPx, width: HEAD }))
  }
}

function drawNote({ kind, status }: NoteSpan, { box, add }: Drawn): void {
  const look = status === 'failed' ? 'failed' : kind
  add(`tail-${status === 'running' ? 'running' : look}`, rectangle(box))
  if (box.hasStart) add(`head-${look}`, rectangle({ ...box, width: Math.min(HEAD, box.width) }))
}

function nameIn(note: NoteSpan, { x, y, width, height, hasStart }: Box): NoteName | undefined {
  if (width < NAMED || height < 12) return undefined
  const room = Math.floor((width - AROUND) / LETTER)
  const name = nameOf(note)
  const text = name.length > room ? `${name.slice(0, room - 1)}…` : name
  return { x: hasStart ? x + 6 : AROUND + 6, y: y + height - 3.5, text }
}

function nameOf(note: NoteSpan): string {
  switch (note.kind) {
    case 'model':
      // The name of the provider before the colon is the same in most.
      return (note.failure?.model ?? note.turn.model).replace(/^[^:]*:/, '')
    case 'tool':
      return note.call.name
    case 'agent':
      return note.agentCall.toolName
  }
}

function densityLook(density: number): string {
  if (density > 0.75) return 'dense'
  return density > 0.35 ? 'half' : 'sparse'
}

function rectangle({ x, y, width, height }: Omit<Box, 'hasStart'>): string {
  return `M${short(x)} ${y}h${short(width)}v${height}h${short(-width)}z`
}

/** A hundredth of a pixel is enough. */
function short(value: number): number {
  return Math.round(value * 100) / 100
}
