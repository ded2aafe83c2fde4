/**
 * Pure: a run as a score. Each task is a stave; its attempts follow each other on it, its model calls are
 * the first lane of notes and its tool calls those below; gates hold the stave; what is done to the run as
 * a whole stands over all of them.
 *
 * T1 A row is the very same as before when nothing of its task has changed.
 * T2 What goes on has no end, so that a model does not depend on the time at which it is looked at.
 * T3 Attempts follow each other: none begins before the one ahead, and all work in it, has ended.
 */
import {
  isTerminalRunStatus,
  type ReviewState,
  type RunState,
  type TaskState,
} from '@tutti/protocol'

import { instantMs, notesOf, type CallTree } from './attempt-notes.ts'

import type { RunHistory } from './history.ts'
import type {
  AttemptSpan,
  GateSpan,
  ModelSpan,
  SpanStatus,
  TimelineMark,
  AgentSpan,
  NoteSpan,
  ToolSpan,
} from './spans.ts'

/** One task. */
export interface TimelineRow {
  readonly task: TaskState
  readonly attempts: readonly AttemptSpan[]
  readonly gates: readonly GateSpan[]
  /** Model calls in the first lane, tool calls in those below; the first is always there. */
  readonly lanes: readonly Lane[]
  /** What it was made of, to know whether it is still true. */
  readonly madeOf: RowParts
}

interface RowParts {
  readonly task: TaskState
  readonly earlier: readonly TaskState[]
  readonly gates: readonly ReviewState[]
}

/** A run in time. */
export interface TimelineModel {
  readonly rows: readonly TimelineRow[]
  /** In order of time. */
  readonly marks: readonly TimelineMark[]
  /** When the first thing was; undefined before anything was. */
  readonly startMs: number | undefined
  /** When the last thing that is known was. */
  readonly lastMs: number
  readonly isOver: boolean
}

export interface TimelineParts {
  readonly history: RunHistory
  /** Shown up to here; undefined is all that is known. */
  readonly untilMs?: number | undefined
  /** The model before this one, whose rows are kept where they are still true. */
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

/** The run in time. */
export function timelineOf(state: RunState, { history, untilMs, before }: TimelineParts) {
  const known = new Map(before?.rows.map((row) => [row.task.name, row]))
  const rows = state.tasks.map((task) => {
    const earlier = (history.attempts.get(task.name) ?? []).filter(
      ({ attempt }) => attempt < task.attempt,
    )
    const gates = state.reviews.filter(({ taskName }) => taskName === task.name)
    return keptRow(known.get(task.name), { task, earlier, gates })
  })
  const marks = [...directiveMarks(state), ...history.marks.filter(isBefore(untilMs))].toSorted(
    (one, other) => one.atMs - other.atMs,
  )
  const instants = [
    ...[state.startedAt ?? state.queuedAt, state.completedAt].map(instantMs),
    ...rows.flatMap(({ attempts, gates, lanes }) =>
      [...attempts, ...gates, ...lanes.flatMap((lane) => lane.slice(-1))].flatMap((span) => [
        span.startMs,
        span.endMs,
      ]),
    ),
    ...marks.map(({ atMs }) => atMs),
  ].filter((ms): ms is number => ms !== undefined)
  const model: TimelineModel = {
    rows,
    marks,
    startMs: instants.length === 0 ? undefined : instants.reduce(least),
    lastMs: instants.reduce(most, Number.NEGATIVE_INFINITY),
    isOver: isTerminalRunStatus(state.status),
  }
  return model
}

function least(one: number, other: number): number {
  return Math.min(one, other)
}

function most(one: number, other: number): number {
  return Math.max(one, other)
}

function isBefore(untilMs: number | undefined): (mark: TimelineMark) => boolean {
  return ({ atMs }) => untilMs === undefined || atMs <= untilMs
}

function directiveMarks({ directives }: RunState): readonly TimelineMark[] {
  return directives.flatMap((directive) =>
    directive.delivered.flatMap(({ taskName, iterationIndex, deliveredAt }): TimelineMark[] => {
      const atMs = instantMs(deliveredAt)
      if (atMs === undefined) return []
      return [{ kind: 'directive', atMs, target: { taskName, iterationIndex }, directive }]
    }),
  )
}

function keptRow(known: TimelineRow | undefined, parts: RowParts): TimelineRow {
  const isSame =
    known !== undefined &&
    known.madeOf.task === parts.task &&
    haveSame(known.madeOf.earlier, parts.earlier) &&
    haveSame(known.madeOf.gates, parts.gates)
  return isSame ? known : rowOf(parts)
}

function haveSame<T>(one: readonly T[], other: readonly T[]): boolean {
  return one.length === other.length && one.every((member, at) => member === other[at])
}

function rowOf(parts: RowParts): TimelineRow {
  const attempts: AttemptSpan[] = []
  const models: ModelSpan[] = []
  const calls: CallTree[] = []
  for (const task of [...parts.earlier, parts.task]) {
    const isPast = task !== parts.task
    const leastMs = attempts.at(-1)?.endMs ?? Number.NEGATIVE_INFINITY
    const said = instantMs(task.startedAt) ?? instantMs(task.turns[0]?.startedAt)
    if (said === undefined) continue
    const startMs = Math.max(leastMs, said)
    const saidEnd = task.status === 'RUNNING' && !isPast ? undefined : endOf(task, startMs)
    const notes = notesOf(task, { startMs, endMs: saidEnd, isPast })
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
  const gates = parts.gates.flatMap((gate) => gateSpan(gate, parts.task))
  return { task: parts.task, attempts, gates, lanes: [models, ...callLanes(calls)], madeOf: parts }
}

function endOf({ completedAt, durationMs }: TaskState, startMs: number): number | undefined {
  const derived = durationMs === undefined ? undefined : startMs + durationMs
  const endMs = instantMs(completedAt) ?? derived
  return endMs === undefined ? undefined : Math.max(startMs, endMs)
}

/** A gate that timed out says not when: it was when its time was up. */
function gateSpan(gate: ReviewState, { turns }: TaskState): readonly GateSpan[] {
  const startMs = instantMs(gate.requestedAt)
  if (startMs === undefined) return []
  const { status, decidedAt, withdrawnAt, timeoutMs, taskName, toolCallId } = gate
  const asking = turns.findLast(({ toolCalls }) => toolCalls.some(({ id }) => id === toolCallId))
  const isKnown = asking !== undefined && toolCallId !== undefined
  const call = isKnown ? { toolCallId, iterationIndex: asking.iterationIndex } : {}
  const closedMs = instantMs(decidedAt) ?? instantMs(withdrawnAt) ?? startMs + timeoutMs
  return [
    {
      kind: 'gate',
      gate,
      startMs,
      status: status === 'OPEN' ? 'running' : status === 'WITHDRAWN' ? 'stopped' : 'done',
      target: { taskName, ...call },
      ...(status === 'OPEN' ? {} : { endMs: Math.max(startMs, closedMs) }),
    },
  ]
}

/** Notes of one lane, in the order of their start; none begins before the one ahead has ended. */
export type Lane = readonly NoteSpan[]

/** The lanes of calls: each in the first that is free, what a call made itself below it. */
function callLanes(calls: readonly CallTree[]): readonly Lane[] {
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
