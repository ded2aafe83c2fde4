/**
 * Models a run like a musical score: each task is a row with its attempts. Model calls are the
 * first lane of notes, tool calls the lanes below. Reviews span the row, and marks of the whole run
 * are above all rows. Pure.
 *
 * DASH-T1 A row stays the same object while nothing of its task changes.
 * DASH-T2 Running work has no end, so that a model does not depend on the current time.
 * DASH-T3 Attempts are consecutive: none starts before the previous one, and all work in it, has ended.
 */
import { isTerminalRunStatus, type RunState } from '@tutti/protocol'
import type { ReviewState, TaskState } from '@tutti/protocol/internal'

import {
  buildAttempt,
  buildReview,
  parseInstantMs,
  type CallTree,
  type EntryOf,
  type RunEntry,
} from '../../api/run-entries.ts'

import type { RunHistory } from './history.ts'

/** An entry of a lane. */
export type Note = EntryOf<'model' | 'tool' | 'agent'>

/** Notes of a lane, sorted by start; they do not overlap. */
export type Lane = readonly Note[]

/** The row of a task. */
export interface TimelineRow {
  readonly task: TaskState
  readonly attempts: readonly EntryOf<'attempt'>[]
  readonly reviews: readonly EntryOf<'review'>[]
  /** Model calls in the first lane, which always exists, and tool calls in the others. */
  readonly lanes: readonly Lane[]
  /** Input of the row, to detect changes: its attempts and its reviews. */
  readonly madeOf: readonly (TaskState | ReviewState)[]
}

/** A run over time. */
export interface TimelineModel {
  readonly rows: readonly TimelineRow[]
  /** Entries of the whole run, in order of time. */
  readonly marks: readonly RunEntry[]
  /** Start of the first entry; undefined if there is none. */
  readonly startMs: number | undefined
  /** Time of the last known entry. */
  readonly lastMs: number
  readonly isOver: boolean
}

export interface TimelineParts {
  readonly history: RunHistory
  /** End of the shown range; undefined for everything known. */
  readonly untilMs?: number | undefined
  /** The previous model, whose unchanged rows are reused. */
  readonly before?: TimelineModel | undefined
}

/** Returns the timeline of a run. */
export function buildTimeline(
  state: RunState,
  { history, untilMs = Number.POSITIVE_INFINITY, before }: TimelineParts,
): TimelineModel {
  const known = new Map(before?.rows.map((row) => [row.task.name, row]))
  const rows = state.tasks.map((task) => {
    const earlier = (history.attempts.get(task.name) ?? []).filter(
      ({ attempt }) => attempt < task.attempt,
    )
    const reviews = state.reviews.filter(({ taskName }) => taskName === task.name)
    const madeOf = [...earlier, task, ...reviews]
    const row = known.get(task.name)
    return row !== undefined && isSameList(row.madeOf, madeOf)
      ? row
      : buildRow(task, { earlier, reviews, madeOf })
  })
  const marks = [
    ...listDirectives(state),
    ...history.marks.filter(({ startMs }) => startMs <= untilMs),
  ].toSorted(compareStart)
  const instants = [
    ...[state.startedAt ?? state.queuedAt, state.completedAt].map(parseInstantMs),
    ...rows.flatMap(({ attempts, reviews, lanes }) =>
      [...attempts, ...reviews, ...lanes.flatMap((lane) => lane.slice(-1))].flatMap((entry) => [
        entry.startMs,
        entry.endMs,
      ]),
    ),
    ...marks.map(({ startMs }) => startMs),
  ].filter((ms): ms is number => ms !== undefined)
  return {
    rows,
    marks,
    startMs: instants.length === 0 ? undefined : instants.reduce((one, ms) => Math.min(one, ms)),
    lastMs: instants.reduce((one, ms) => Math.max(one, ms), Number.NEGATIVE_INFINITY),
    isOver: isTerminalRunStatus(state.status),
  }
}

function isSameList<T>(one: readonly T[], other: readonly T[]): boolean {
  return one.length === other.length && one.every((member, at) => member === other[at])
}

/** Returns the deliveries of directives. */
function listDirectives({ directives }: RunState): readonly RunEntry[] {
  return directives.flatMap((directive) =>
    directive.delivered.flatMap(({ taskName, iterationIndex, deliveredAt }): RunEntry[] => {
      const atMs = parseInstantMs(deliveredAt)
      if (atMs === undefined) return []
      const target = { taskName, iterationIndex }
      return [{ kind: 'directive', startMs: atMs, endMs: atMs, status: 'done', target, directive }]
    }),
  )
}

interface RowParts extends Pick<TimelineRow, 'madeOf'> {
  readonly earlier: readonly TaskState[]
  readonly reviews: readonly ReviewState[]
}

function buildRow(task: TaskState, { earlier, reviews, madeOf }: RowParts): TimelineRow {
  const attempts: EntryOf<'attempt'>[] = []
  const models: EntryOf<'model'>[] = []
  const calls: CallTree[] = []
  for (const one of [...earlier, task]) {
    const leastMs = attempts.at(-1)?.endMs
    const read = buildAttempt(one, { isPast: one !== task, leastMs })
    if (read.attempt === undefined) continue
    attempts.push(read.attempt)
    for (const turn of read.turns) {
      models.push(...turn.models)
      calls.push(...turn.calls)
    }
  }
  const lanes = [models, ...layOutCalls(calls)]
  const held = reviews.flatMap((review) => buildReview(review, task) ?? [])
  return { task, attempts, reviews: held, lanes, madeOf }
}

/** Distributes calls over lanes: each into the first free one, calls made by a call below it. */
function layOutCalls(calls: readonly CallTree[]): readonly Lane[] {
  const lanes: Note[][] = []
  const place = ({ entry, below }: CallTree, least: number): void => {
    let at = least
    while (isTaken(lanes[at], entry)) at += 1
    while (lanes.length <= at) lanes.push([])
    lanes[at]?.push(entry)
    for (const tree of sortByStart(below)) place(tree, at + 1)
  }
  for (const tree of sortByStart(calls)) place(tree, 0)
  return lanes
}

function isTaken(lane: Lane = [], note: Note): boolean {
  const last = lane.at(-1)
  return last !== undefined && (last.endMs ?? Number.POSITIVE_INFINITY) > note.startMs
}

function sortByStart(trees: readonly CallTree[]): readonly CallTree[] {
  return trees.toSorted((one, other) => compareStart(one.entry, other.entry))
}

function compareStart(one: RunEntry, other: RunEntry): number {
  return one.startMs - other.startMs
}
