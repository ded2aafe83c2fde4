/**
 * Models a run like a musical score: each task is a row with its attempts. Model calls are the
 * first lane of notes, tool calls the lanes below. Reviews span the row, and marks of the whole run
 * are above all rows. Pure.
 *
 * DASH-T1 A row stays the same object while nothing of its task changes.
 * DASH-T2 Running work has no end, so that a model does not depend on the current time.
 * DASH-T4 A group of tasks has a row with the times in which its tasks ran. The tasks of an open group follow it.
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

import {
  countStates,
  findGroup,
  findHolds,
  groupTasks,
  listGroupRows,
  readTaskKey,
  type GroupedTasks,
  type GroupView,
  type GroupViews,
  type StateCount,
  type TaskGroup,
} from '../../api/task-groups.ts'

import type { RunHistory } from './history.ts'

/** An entry of a lane. */
export type Note = EntryOf<'model' | 'tool' | 'agent' | 'group'>

/** Notes of a lane, sorted by start; they do not overlap. */
export type Lane = readonly Note[]

/** The row of a task, or of a group. */
export interface TimelineRow {
  /** Unique among the rows. */
  readonly name: string
  readonly label: string
  /** The task, or the one that has added the group. */
  readonly task: TaskState
  /** Present in the row of a group, whose only lane has the times in which its tasks ran. */
  readonly group?: TimelineGroup
  readonly attempts: readonly EntryOf<'attempt'>[]
  readonly reviews: readonly EntryOf<'review'>[]
  /** Model calls in the first lane, which always exists, and tool calls in the others. */
  readonly lanes: readonly Lane[]
  /** Input of the row, to detect changes: its attempts and its reviews, or the tasks of the group and theirs. */
  readonly madeOf: readonly (TaskState | ReviewState)[]
}

/** A group of tasks as a row. */
export interface TimelineGroup {
  readonly group: TaskGroup
  readonly view: GroupView
  readonly states: readonly StateCount[]
}

/** A run over time. */
export interface TimelineModel {
  readonly rows: readonly TimelineRow[]
  /** Number of all tasks, also of those in folded groups. */
  readonly taskCount: number
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
  /** Groups of the tasks. @default those of the state, folded */
  readonly groups?: { readonly grouped: GroupedTasks; readonly views: GroupViews } | undefined
}

/** Returns the timeline of a run. */
export function buildTimeline(
  state: RunState,
  { history, untilMs = Number.POSITIVE_INFINITY, before, groups }: TimelineParts,
): TimelineModel {
  const { grouped, views } = groups ?? { grouped: groupTasks(state.tasks), views: new Map() }
  const known = new Map(before?.rows.map((row) => [row.name, row]))
  const reviewsOf = Map.groupBy(state.reviews, ({ taskName }) => taskName)
  const toTaskRow = (task: TaskState): TimelineRow => {
    const earlier = (history.attempts.get(task.name) ?? []).filter(
      ({ attempt }) => attempt < task.attempt,
    )
    const reviews = reviewsOf.get(task.name) ?? []
    const madeOf = [...earlier, task, ...reviews]
    const row = known.get(task.name)
    if (row !== undefined && isSameList(row.madeOf, madeOf)) return row
    const label = grouped.groupOf.has(task.name) ? readTaskKey(task) : task.name
    return buildRow(task, { earlier, reviews, madeOf, label })
  }
  const toGroupRow = (parent: TaskState, group: TaskGroup, view: GroupView): TimelineRow => {
    const reviews = group.tasks.flatMap(({ name }) => reviewsOf.get(name) ?? [])
    const madeOf = [...group.tasks, ...reviews]
    const row = known.get(group.name)
    const isSame = row?.group?.view === view && isSameList(row.madeOf, madeOf)
    return isSame ? row : buildGroupRow(parent, { group, view, madeOf, reviews })
  }
  const rows = grouped.plain.flatMap((task) => {
    const group = findGroup(grouped, task.name)
    if (group === undefined) return [toTaskRow(task)]
    let last = task
    const below = listGroupRows(grouped, group, views).flatMap((row): TimelineRow[] => {
      if (row.kind === 'search') return []
      if (row.kind === 'group') return [toGroupRow(last, row.group, row.view)]
      last = row.task
      return [toTaskRow(row.task)]
    })
    return [toTaskRow(task), ...below]
  })
  const marks = [
    ...listDirectives(state),
    ...history.marks.filter(({ startMs }) => startMs <= untilMs),
  ].toSorted(compareStart)
  const instants = [
    ...[state.startedAt ?? state.queuedAt, state.completedAt].map(parseInstantMs),
    ...rows.flatMap(readInstants),
    ...marks.map(({ startMs }) => startMs),
  ].filter((ms): ms is number => ms !== undefined)
  return {
    rows,
    taskCount: state.tasks.length,
    marks,
    startMs: instants.length === 0 ? undefined : instants.reduce((one, ms) => Math.min(one, ms)),
    lastMs: instants.reduce((one, ms) => Math.max(one, ms), Number.NEGATIVE_INFINITY),
    isOver: isTerminalRunStatus(state.status),
  }
}

/** Instants of rows, so that those of unchanged rows are read once: an open group has thousands. */
const INSTANTS = new WeakMap<TimelineRow, readonly number[]>()

/** Returns the first and the last known instant of a row; none if it has no entries. */
function readInstants(row: TimelineRow): readonly number[] {
  const known = INSTANTS.get(row)
  if (known !== undefined) return known
  const { attempts, reviews, lanes } = row
  const all = [...attempts, ...reviews, ...lanes.flatMap((lane) => lane.slice(-1))]
    .flatMap((entry) => [entry.startMs, entry.endMs])
    .filter((ms) => ms !== undefined)
    .toSorted((a, b) => a - b)
  const instants = [all.slice(0, 1), all.slice(-1)].flat()
  INSTANTS.set(row, instants)
  return instants
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

interface RowParts extends Pick<TimelineRow, 'madeOf' | 'label'> {
  readonly earlier: readonly TaskState[]
  readonly reviews: readonly ReviewState[]
}

function buildRow(task: TaskState, { earlier, reviews, madeOf, label }: RowParts): TimelineRow {
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
  return { name: task.name, label, task, attempts, reviews: held, lanes, madeOf }
}

interface GroupParts extends Pick<TimelineRow, 'madeOf'>, Pick<TimelineGroup, 'group' | 'view'> {
  readonly reviews: readonly ReviewState[]
}

function buildGroupRow(task: TaskState, { group, view, madeOf, reviews }: GroupParts): TimelineRow {
  return {
    name: group.name,
    label: `${group.tasks.length.toLocaleString('en-US')} tasks`,
    task,
    group: { group, view, states: countStates(group, findHolds(reviews)) },
    attempts: [],
    reviews: [],
    lanes: [mergeTimes(group)],
    madeOf,
  }
}

/** Returns the times in which at least one task of a group ran, in order. */
function mergeTimes({ parent, tasks }: TaskGroup): readonly EntryOf<'group'>[] {
  const merged: EntryOf<'group'>[] = []
  const entries = tasks.flatMap((task) => readTime(parent, task) ?? []).toSorted(compareStart)
  for (const entry of entries) {
    const last = merged.at(-1)
    const lastMs = last?.endMs ?? Number.POSITIVE_INFINITY
    if (last === undefined || lastMs < entry.startMs) {
      merged.push(entry)
      continue
    }
    const { endMs: _, ...rest } = last
    const isRunning = last.endMs === undefined || entry.endMs === undefined
    const status = last.status === entry.status ? last.status : 'done'
    merged[merged.length - 1] = {
      ...rest,
      ...(isRunning ? {} : { endMs: Math.max(lastMs, entry.endMs ?? lastMs) }),
      status: isRunning ? 'running' : status,
      count: last.count + 1,
      failed: last.failed + entry.failed,
    }
  }
  return merged
}

/** Times of tasks, so that those of unchanged tasks are read once. */
const TIMES = new WeakMap<TaskState, EntryOf<'group'>>()

/** Returns the time of the latest attempt of a task; undefined if it has not begun. */
function readTime(parent: string, task: TaskState): EntryOf<'group'> | undefined {
  const known = TIMES.get(task)
  if (known !== undefined) return known
  const { attempt } = buildAttempt({ ...task, turns: [] })
  if (attempt === undefined) return undefined
  const { startMs, endMs, status } = attempt
  const entry: EntryOf<'group'> = {
    kind: 'group',
    startMs,
    ...(endMs === undefined ? {} : { endMs }),
    status,
    parent,
    count: 1,
    failed: status === 'failed' ? 1 : 0,
  }
  TIMES.set(task, entry)
  return entry
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
