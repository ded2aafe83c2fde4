/** Pure: notes in lanes, so that what went on at the same time is one below the other. */
import type { CallTree } from './attempt-notes.ts'
import type { AgentSpan, NoteSpan, ToolSpan } from './spans.ts'

/** Notes of one lane, in the order of their start; none begins before the one ahead has ended. */
export type Lane = readonly NoteSpan[]

/** The lanes of calls: each in the first that is free, what a call made itself below it. */
export function callLanes(calls: readonly CallTree[]): readonly Lane[] {
  const lanes: (ToolSpan | AgentSpan)[][] = []
  const place = ({ span, below }: CallTree, least: number): void => {
    let at = least
    while (isTaken(lanes[at], span)) at += 1
    while (lanes.length <= at) lanes.push([])
    lanes[at]?.push(span)
    for (const tree of byStart(below)) place(tree, at + 1)
  }
  for (const tree of byStart(calls)) place(tree, 0)
  return lanes
}

function isTaken(lane: Lane = [], span: NoteSpan): boolean {
  const last = lane.at(-1)
  return last !== undefined && (last.endMs ?? Number.POSITIVE_INFINITY) > span.startMs
}

function byStart(trees: readonly CallTree[]): readonly CallTree[] {
  if (trees.length < 2) return trees
  return trees.toSorted((one, other) => one.span.startMs - other.span.startMs)
}
