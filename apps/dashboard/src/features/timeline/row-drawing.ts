/**
 * Draws a row as a few SVG paths, one per style, however many notes it has. Pure.
 *
 * A note has a solid head at its start and a lighter tail for its duration. Notes that are too
 * dense to distinguish are drawn as a block whose opacity shows how busy the time was.
 */
import { formatPlural } from '../../lib/format.ts'
import { buildBlocks, computeLanePosition, type Block, type LanePosition } from './positions.ts'

import type { TimeFrame } from './scale.ts'
import type { Note, TimelineRow } from './timeline-model.ts'

/** Width of the head of a note, in pixels. */
const HEAD = 2.5
/** Minimum width of a labeled note, in pixels. */
const NAMED = 44
/** Approximate width of a character, and padding, in pixels. */
const LETTER = 6
const AROUND = 10

export interface NoteName {
  readonly x: number
  readonly y: number
  readonly text: string
}

/** A drawn row: paths by style, such as `tail-model`, and labels. */
export interface RowDrawing {
  readonly paths: Readonly<Record<string, string>>
  readonly names: readonly NoteName[]
}

/** Draws the part of a row within a frame, relative to the start of the frame. */
export function drawRow(row: TimelineRow, frame: TimeFrame, nowMs: number): RowDrawing {
  const paths: Record<string, string> = {}
  const names: NoteName[] = []
  const add: Drawn['add'] = (look, path) => {
    paths[look] = (paths[look] ?? '') + path
  }
  for (const [index, lane] of row.lanes.entries()) {
    const position = computeLanePosition(row, index)
    for (const block of buildBlocks(lane, frame, nowMs)) {
      const [note] = block.notes
      if (note === undefined) continue
      const drawn = { box: computeBlockBox(block, frame, position), add }
      if (block.notes.length > 1) {
        drawBlock(block, frame, drawn)
        continue
      }
      drawNote(note, drawn)
      const name = labelNote(note, drawn.box)
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
  /** Whether its start is within the frame. */
  readonly hasStart: boolean
}

/** A box, and a function that adds a path with a style. */
interface Drawn {
  readonly box: Box
  readonly add: (look: string, path: string) => void
}

/** Clips a block to the frame: browsers draw coordinates in the millions incorrectly. */
function computeBlockBox(
  { fromPx, toPx }: Block,
  frame: TimeFrame,
  { top, height }: LanePosition,
): Box {
  const from = Math.max(fromPx, frame.fromPx - AROUND)
  const to = Math.min(toPx, frame.toPx + AROUND)
  return {
    x: from - frame.fromPx,
    y: top,
    // A narrow gap separates notes that follow each other immediately.
    width: Math.max(1, to - from - 0.75),
    height,
    hasStart: from === fromPx,
  }
}

function drawBlock({ notes, density, failedPx }: Block, frame: TimeFrame, drawn: Drawn): void {
  const { box, add } = drawn
  add(`${chooseDensity(density)}-${notes[0]?.kind}`, drawRectangle(box))
  for (const px of failedPx) {
    add('head-failed', drawRectangle({ ...box, x: px - frame.fromPx, width: HEAD }))
  }
}

function drawNote({ kind, status }: Note, { box, add }: Drawn): void {
  const look = status === 'failed' ? 'failed' : kind
  add(`tail-${status === 'running' ? 'running' : look}`, drawRectangle(box))
  if (box.hasStart) add(`head-${look}`, drawRectangle({ ...box, width: Math.min(HEAD, box.width) }))
}

function labelNote(note: Note, { x, y, width, height, hasStart }: Box): NoteName | undefined {
  if (width < NAMED || height < 12) return undefined
  const room = Math.floor((width - AROUND) / LETTER)
  const name = findNoteName(note)
  const text = name.length > room ? `${name.slice(0, room - 1)}…` : name
  return { x: hasStart ? x + 6 : AROUND + 6, y: y + height - 3.5, text }
}

function findNoteName(note: Note): string {
  switch (note.kind) {
    case 'model':
      // The provider before the colon is mostly the same.
      return (note.failure?.model ?? note.turn.model).replace(/^[^:]*:/, '')
    case 'tool':
      return note.call.name
    case 'agent':
      return note.agentCall.toolName
    case 'group':
      return formatPlural(note.count, 'task')
  }
}

function chooseDensity(density: number): string {
  if (density > 0.75) return 'dense'
  return density > 0.35 ? 'half' : 'sparse'
}

function drawRectangle({ x, y, width, height }: Omit<Box, 'hasStart'>): string {
  return `M${roundPx(x)} ${y}h${roundPx(width)}v${height}h${roundPx(-width)}z`
}

/** Rounds to hundredths of a pixel. */
function roundPx(value: number): number {
  return Math.round(value * 100) / 100
}
