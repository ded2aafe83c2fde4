/**
 * Pure: the list of runs that fit a filter, as far as its pages were read, kept by the events of the server.
 *
 * R1 Runs are in the order in which they came in, the newest first; a line never moves.
 * R2 A run that no longer fits stays in the list, and is not counted in `total`, until `tidied`.
 * R3 A run that comes in is `fresh`: it is shown when the reader wants it, so that nothing moves.
 * R4 Lines of which too little is known are `unclear`. Their events wait until the run was read.
 * R5 A page is asked for from `nextOffset`: the runs before it that the server still counts are all here.
 */
import { fitsGroup, isFound, isOfAnyRun, type RunFilter } from './run-list-filter.ts'
import {
  isUnclear,
  lineAfter,
  lineOfDetail,
  lineOfQueued,
  lineOfSummary,
  type RunLine,
} from './run-list-line.ts'

import type { ListEvent } from './server-feed.ts'
import type { RunDetail, RunList } from '@tutti/protocol'

/** A list. */
export interface RunListState {
  readonly filter: RunFilter
  readonly lines: readonly RunLine[]
  /** Runs that are not shown yet. */
  readonly fresh: ReadonlySet<string>
  /** How many runs fit, on every page together. */
  readonly total: number
  readonly nextOffset: number
  /** Whether the last page was read. */
  readonly isWhole: boolean
  /** Runs in the list that are not counted in `nextOffset`. */
  readonly uncounted: ReadonlySet<string>
  /** Runs that may come to fit. */
  readonly others: ReadonlyMap<string, RunLine>
  /** Runs that are to be read, with the events that wait for it. */
  readonly unclear: ReadonlyMap<string, readonly ListEvent[]>
  /** Why a run could not be read: its line is as old as that. */
  readonly failure?: unknown
}

/** A page, and what was told while it was on its way. */
export interface ReadPage {
  readonly page: RunList
  readonly offset: number
  readonly meanwhile: readonly ListEvent[]
}

/** The list of a first page; of `before`, what was shown stays where it is. */
export function listOf(filter: RunFilter, read: ReadPage, before?: RunListState): RunListState {
  const empty: RunListState = {
    filter,
    lines: [],
    fresh: new Set(),
    total: 0,
    nextOffset: 0,
    isWhole: false,
    uncounted: new Set(),
    others: new Map(),
    unclear: new Map(),
  }
  const state = listAfter(withPage(empty, { ...read, meanwhile: [] }), read.meanwhile)
  if (before === undefined) return state
  const shown = new Set(shownLines(before).map(({ run }) => run.runId))
  const at = state.lines.findIndex(({ run }) => shown.has(run.runId))
  const fresh = state.lines.slice(0, Math.max(0, at)).map(({ run }) => run.runId)
  return { ...state, fresh: new Set([...state.fresh, ...fresh]) }
}

/** The list with one more page; a page that would leave a gap is not taken. */
export function withPage(state: RunListState, { page, offset, meanwhile }: ReadPage): RunListState {
  if (offset > state.nextOffset) return state
  const known = new Set(state.lines.map(({ run }) => run.runId))
  const added = page.runs.filter(({ runId }) => !known.has(runId))
  const ids = new Set(page.runs.map(({ runId }) => runId))
  const addedIds = new Set(added.map(({ runId }) => runId))
  const lines = added.map(lineOfSummary)
  const unclear = new Map(state.unclear)
  for (const line of lines) if (isUnclear(line)) unclear.set(line.run.runId, [])
  const nextOffset = Math.max(state.nextOffset, offset + page.runs.length)
  const next: RunListState = {
    ...state,
    lines: [...state.lines, ...lines],
    total: page.total,
    nextOffset,
    isWhole: page.runs.length === 0 || nextOffset >= page.total,
    uncounted: new Set([...state.uncounted].filter((runId) => !ids.has(runId))),
    unclear,
  }
  return listAfter(
    next,
    meanwhile.filter(({ runId }) => addedIds.has(runId)),
  )
}

/** The list after events of any run. */
export function listAfter(state: RunListState, events: readonly ListEvent[]): RunListState {
  if (events.length === 0) return state
  const draft = draftOf(state)
  for (const event of events) takeEvent(draft, event)
  return listOfDraft(state, draft)
}

/** The list when these runs may fit although no page has them. */
export function withCandidates(state: RunListState, runIds: readonly string[]): RunListState {
  const known = placesOf(state.lines)
  const unclear = new Map(state.unclear)
  for (const runId of runIds) {
    if (!known.has(runId) && !unclear.has(runId)) unclear.set(runId, [])
  }
  return unclear.size === state.unclear.size ? state : { ...state, unclear }
}

/** The list after a run was read; undefined when there is none of that id. */
export function withDetail(
  state: RunListState,
  runId: string,
  detail: RunDetail | undefined,
): RunListState {
  const events = state.unclear.get(runId)
  if (events === undefined) return state
  const draft = draftOf(state)
  draft.unclear.delete(runId)
  const at = draft.places.get(runId)
  if (detail === undefined) {
    if (at !== undefined) removeLine(draft, at)
    return listOfDraft(state, draft)
  }
  if (at === undefined && !isFound(state.filter, detail)) return listOfDraft(state, draft)
  const line = lineOfDetail(detail)
  if (at === undefined) draft.others.set(runId, line)
  else setLine(draft, at, line)
  settle(draft, runId)
  for (const event of events) takeEvent(draft, event)
  return listOfDraft(state, draft)
}

/** The list with everything shown. */
export function revealed(state: RunListState): RunListState {
  return state.fresh.size === 0 ? state : { ...state, fresh: new Set() }
}

/** The list without the runs that no longer fit. */
export function tidied(state: RunListState): RunListState {
  const lines = state.lines.filter(({ run }) => fitsGroup(state.filter, run.status))
  if (lines.length === state.lines.length) return state
  const others = new Map(state.others)
  for (const line of state.lines) {
    if (!lines.includes(line) && line.course !== undefined) others.set(line.run.runId, line)
  }
  return { ...state, lines, others }
}

/** The lines that are shown. */
export function shownLines({ lines, fresh }: RunListState): readonly RunLine[] {
  return fresh.size === 0 ? lines : lines.filter(({ run }) => !fresh.has(run.runId))
}

/** A list while several events are taken. */
interface Draft {
  readonly filter: RunFilter
  readonly isWhole: boolean
  lines: RunLine[]
  /** Where each run is in `lines`. */
  places: Map<string, number>
  readonly fresh: Set<string>
  readonly uncounted: Set<string>
  readonly others: Map<string, RunLine>
  readonly unclear: Map<string, readonly ListEvent[]>
  total: number
  nextOffset: number
}

function draftOf(state: RunListState): Draft {
  return {
    filter: state.filter,
    isWhole: state.isWhole,
    lines: [...state.lines],
    places: placesOf(state.lines),
    fresh: new Set(state.fresh),
    uncounted: new Set(state.uncounted),
    others: new Map(state.others),
    unclear: new Map(state.unclear),
    total: state.total,
    nextOffset: state.nextOffset,
  }
}

function listOfDraft(state: RunListState, draft: Draft): RunListState {
  const { lines, fresh, uncounted, others, unclear, total, nextOffset } = draft
  return { ...state, lines, fresh, uncounted, others, unclear, total, nextOffset }
}

function takeEvent(draft: Draft, event: ListEvent): void {
  const { runId } = event
  const waiting = draft.unclear.get(runId)
  if (waiting !== undefined) {
    draft.unclear.set(runId, [...waiting, event])
    return
  }
  const at = draft.places.get(runId)
  const line = at === undefined ? draft.others.get(runId) : draft.lines[at]
  if (line === undefined) {
    takeUnknown(draft, event)
    return
  }
  const next = lineAfter(line, event)
  if (next === undefined) draft.unclear.set(runId, [event])
  else if (at !== undefined) setLine(draft, at, next)
  else draft.others.set(runId, next)
  settle(draft, runId)
}

/** Of runs that are not in the list, those count that came in now, and those that come to fit. */
function takeUnknown(draft: Draft, event: ListEvent): void {
  const { filter, others, unclear } = draft
  const { runId } = event
  if (event.type === 'run_queued') {
    if (!isFound(filter, event)) return
    others.set(runId, lineOfQueued(event))
    settle(draft, runId)
    return
  }
  const isOver = event.type === 'run_result'
  const entersReview = filter.group === 'review' && event.type === 'review_requested'
  const entersEnded = isOver && filter.group !== 'all' && fitsGroup(filter, event.status)
  if (entersReview || entersEnded) unclear.set(runId, [event])
  // It was among those that were not read yet.
  else if (isOver && filter.group === 'active' && isOfAnyRun(filter) && !draft.isWhole) {
    draft.total -= 1
  }
}

/** Brings a run that has come to fit into the list, and forgets one that never will. */
function settle(draft: Draft, runId: string): void {
  const line = draft.others.get(runId)
  if (line === undefined || draft.places.has(runId)) return
  if (fitsGroup(draft.filter, line.run.status)) {
    draft.others.delete(runId)
    bringIn(draft, line)
  } else if (line.course === undefined) {
    draft.others.delete(runId)
  }
}

function bringIn(draft: Draft, line: RunLine): void {
  const { runId, startedAt, status } = line.run
  const isNewest = status === 'ACCEPTED'
  const place = isNewest ? 0 : draft.lines.findIndex(({ run }) => run.startedAt <= startedAt)
  draft.lines.splice(place === -1 ? draft.lines.length : place, 0, line)
  draft.places = placesOf(draft.lines)
  draft.fresh.add(runId)
  draft.total += 1
  // What was just accepted is before everything that was read.
  if (isNewest) draft.nextOffset += 1
  else draft.uncounted.add(runId)
}

/** Changes a line, and counts it if it has come to fit or ceased to. */
function setLine(draft: Draft, at: number, line: RunLine): void {
  const before = draft.lines[at]
  draft.lines[at] = line
  const change =
    Number(fitsGroup(draft.filter, line.run.status)) -
    Number(before !== undefined && fitsGroup(draft.filter, before.run.status))
  draft.total += change
  if (!draft.uncounted.has(line.run.runId)) draft.nextOffset += change
}

function removeLine(draft: Draft, at: number): void {
  const [line] = draft.lines.splice(at, 1)
  if (line === undefined || !fitsGroup(draft.filter, line.run.status)) return
  draft.total -= 1
  if (!draft.uncounted.has(line.run.runId)) draft.nextOffset -= 1
}

function placesOf(lines: readonly RunLine[]): Map<string, number> {
  return new Map(lines.map(({ run }, at) => [run.runId, at]))
}
