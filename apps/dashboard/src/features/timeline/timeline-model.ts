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
import { type ReviewState, type TaskState } from '@tutti/protocol/internal'

import { parseInstantMs, buildNotes, type CallTree } from './attempt-notes.ts'

import type { RunHistory } from './history.ts'
import type {
  AttemptSpan,
  ReviewSpan,
  ModelSpan,
  SpanStatus,
  TimelineMark,
  AgentSpan,
  NoteSpan,
  ToolSpan,
} from './spans.ts'

/** The row of a task. */
export interface TimelineRow {
  readonly task: TaskState
  readonly attempts: readonly AttemptSpan[]
  readonly reviews: readonly ReviewSpan[]
  /** Model calls in the first lane, which always exists, and tool calls in the others. */
  readonly lanes: readonly Lane[]
  /** Input of the row, to detect changes. */
  readonly madeOf: RowParts
}

interface RowParts {
  readonly task: TaskState
  readonly earlier: readonly TaskState[]
  readonly reviews: readonly ReviewState[]
}

/** A run over time. */
export interface TimelineModel {
  readonly rows: readonly TimelineRow[]
  /** In order of time. */
  readonly marks: readonly TimelineMark[]
  /** Start of the first span or mark; undefined if there is none. */
  readonly startMs: number | undefined
  /** Time of the last known span or mark. */
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

const STATUS: Readonly<Record<TaskState['status'], SpanStatus>> = {
  PENDING: 'stopped',
  RUNNING: 'running',
  COMPLETED: 'done',
  FAILED: 'failed',
  SKIPPED: 'stopped',
  CANCELLED: 'stopped',
}

/** Returns the timeline of a run. */
export function buildTimeline(state: RunState, { history, untilMs, before }: TimelineParts) {
  const known = new Map(before?.rows.map((row) => [row.task.name, row]))
  const rows = state.tasks.map((task) => {
    const earlier = (history.attempts.get(task.name) ?? []).filter(
      ({ attempt }) => attempt < task.attempt,
    )
    const reviews = state.reviews.filter(({ taskName }) => taskName === task.name)
    return reuseRow(known.get(task.name), { task, earlier, reviews })
  })
  const marks = [
    ...listDirectiveMarks(state),
    ...history.marks.filter(createIsBefore(untilMs)),
  ].toSorted((one, other) => one.atMs - other.atMs)
  const instants = [
    ...[state.startedAt ?? state.queuedAt, state.completedAt].map(parseInstantMs),
    ...rows.flatMap(({ attempts, reviews, lanes }) =>
      [...attempts, ...reviews, ...lanes.flatMap((lane) => lane.slice(-1))].flatMap((span) => [
        span.startMs,
        span.endMs,
      ]),
    ),
    ...marks.map(({ atMs }) => atMs),
  ].filter((ms): ms is number => ms !== undefined)
  const model: TimelineModel = {
    rows,
    marks,
    startMs: instants.length === 0 ? undefined : instants.reduce(findMin),
    lastMs: instants.reduce(findMax, Number.NEGATIVE_INFINITY),
    isOver: isTerminalRunStatus(state.status),
  }
  return model
}

function findMin(one: number, other: number): number {
  return Math.min(one, other)
}

function findMax(one: number, other: number): number {
  return Math.max(one, other)
}

function createIsBefore(untilMs: number | undefined): (mark: TimelineMark) => boolean {
  return ({ atMs }) => untilMs === undefined || atMs <= untilMs
}

function listDirectiveMarks({ directives }: RunState): readonly TimelineMark[] {
  return directives.flatMap((directive) =>
    directive.delivered.flatMap(({ taskName, iterationIndex, deliveredAt }): TimelineMark[] => {
      const atMs = parseInstantMs(deliveredAt)
      if (atMs === undefined) return []
      return [{ kind: 'directive', atMs, target: { taskName, iterationIndex }, directive }]
    }),
  )
}

function reuseRow(known: TimelineRow | undefined, parts: RowParts): TimelineRow {
  const isSame =
    known !== undefined &&
    known.madeOf.task === parts.task &&
    isSameList(known.madeOf.earlier, parts.earlier) &&
    isSameList(known.madeOf.reviews, parts.reviews)
  return isSame ? known : buildRow(parts)
}

function isSameList<T>(one: readonly T[], other: readonly T[]): boolean {
  return one.length === other.length && one.every((member, at) => member === other[at])
}

function buildRow(parts: RowParts): TimelineRow {
  const attempts: AttemptSpan[] = []
  const models: ModelSpan[] = []
  const calls: CallTree[] = []
  for (const task of [...parts.earlier, parts.task]) {
    const isPast = task !== parts.task
    const leastMs = attempts.at(-1)?.endMs ?? Number.NEGATIVE_INFINITY
    const recordedMs = parseInstantMs(task.startedAt) ?? parseInstantMs(task.turns[0]?.startedAt)
    if (recordedMs === undefined) continue
    const startMs = Math.max(leastMs, recordedMs)
    const saidEnd = task.status === 'RUNNING' && !isPast ? undefined : findEnd(task, startMs)
    const notes = buildNotes(task, { startMs, endMs: saidEnd, isPast })
    const isOver = isPast || task.status !== 'RUNNING'
    attempts.push({
      kind: 'attempt',
      task,
      startMs,
      status: isPast && task.status === 'RUNNING' ? 'failed' : STATUS[task.status],
      target: { taskName: task.name },
      ...(isOver ? { endMs: Math.max(saidEnd ?? startMs, notes.lastMs) } : {}),
    })
    models.push(...notes.models)
    calls.push(...notes.calls)
  }
  const reviews = parts.reviews.flatMap((review) => buildReviewSpan(review, parts.task))
  return {
    task: parts.task,
    attempts,
    reviews,
    lanes: [models, ...buildCallLanes(calls)],
    madeOf: parts,
  }
}

function findEnd({ completedAt, durationMs }: TaskState, startMs: number): number | undefined {
  const derived = durationMs === undefined ? undefined : startMs + durationMs
  const endMs = parseInstantMs(completedAt) ?? derived
  return endMs === undefined ? undefined : Math.max(startMs, endMs)
}

/** Returns the span of a review. A timeout has no time in the state, so the deadline is used. */
function buildReviewSpan(review: ReviewState, { turns }: TaskState): readonly ReviewSpan[] {
  const startMs = parseInstantMs(review.requestedAt)
  if (startMs === undefined) return []
  const { status, decidedAt, withdrawnAt, timeoutMs, taskName, toolCallId } = review
  const asking = turns.findLast(({ toolCalls }) => toolCalls.some(({ id }) => id === toolCallId))
  const isKnown = asking !== undefined && toolCallId !== undefined
  const call = isKnown ? { toolCallId, iterationIndex: asking.iterationIndex } : {}
  const closedMs = parseInstantMs(decidedAt) ?? parseInstantMs(withdrawnAt) ?? startMs + timeoutMs
  return [
    {
      kind: 'review',
      review,
      startMs,
      status: status === 'OPEN' ? 'running' : status === 'WITHDRAWN' ? 'stopped' : 'done',
      target: { taskName, ...call },
      ...(status === 'OPEN' ? {} : { endMs: Math.max(startMs, closedMs) }),
    },
  ]
}

/** Notes of a lane, sorted by start; they do not overlap. */
export type Lane = readonly NoteSpan[]

/** Distributes calls over lanes: each into the first free one, calls made by a call below it. */
function buildCallLanes(calls: readonly CallTree[]): readonly Lane[] {
  const lanes: (ToolSpan | AgentSpan)[][] = []
  const place = ({ span, below }: CallTree, least: number): void => {
    let at = least
    while (isTaken(lanes[at], span)) at += 1
    while (lanes.length <= at) lanes.push([])
    lanes[at]?.push(span)
    for (const tree of sortByStart(below)) place(tree, at + 1)
  }
  for (const tree of sortByStart(calls)) place(tree, 0)
  return lanes
}

function isTaken(lane: Lane = [], span: NoteSpan): boolean {
  const last = lane.at(-1)
  return last !== undefined && (last.endMs ?? Number.POSITIVE_INFINITY) > span.startMs
}

function sortByStart(trees: readonly CallTree[]): readonly CallTree[] {
  if (trees.length < 2) return trees
  return trees.toSorted((one, other) => one.span.startMs - other.span.startMs)
}
