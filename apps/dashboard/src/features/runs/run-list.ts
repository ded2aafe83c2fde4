/**
 * The loaded runs that match a filter. Merges responses of the server into the
 * list shown. Pure.
 *
 * DASH-RL1 Runs are in the order of the server, newest first; a run in the list never moves.
 * DASH-RL2 A run that no longer matches stays in place until `dropPast`.
 * DASH-RL3 A run that appears above others is `fresh`: it is hidden until `revealFresh`, so that nothing
 *    moves.
 */
import { replaceEqualDeep } from '@tanstack/react-query'

import { formatPlural } from '../../lib/format.ts'
import { matchesGroup, type RunFilter } from './run-filter.ts'

import type { RunDetail, RunList, RunSummary } from '@tutti/protocol'

/** Maximum length of an error in a list, in characters, as in `RunSummary`. */
const ERROR_LENGTH = 300

/** The loaded part of a list. */
export interface RunListState {
  readonly filter: RunFilter
  readonly runs: readonly RunSummary[]
  /** Ids of the runs that are still hidden. */
  readonly fresh: ReadonlySet<string>
  /** Number of matching runs on all pages, up to the maximum that the server counts. */
  readonly total: number
  /** Whether more runs match than the server counts. */
  readonly isCapped: boolean
  /** Whether the last page is loaded. */
  readonly isWhole: boolean
  /** Cursor of the page after the last loaded run. */
  readonly nextCursor?: string | undefined
}

/** Consecutive runs of the server's list, which ends with them unless there is a `nextCursor`. */
export interface ReadRuns extends RunList {
  /** Whether they follow the last loaded run; otherwise they are the first ones of the list. */
  readonly isContinued: boolean
}

/** Creates the state of a list that is not loaded. */
export function createRunList(filter: RunFilter): RunListState {
  return { filter, runs: [], fresh: new Set(), total: 0, isCapped: false, isWhole: false }
}

/** Merges runs listed by the server: its first ones, or those that follow the last loaded run. */
export function mergeRuns(state: RunListState, answer: ReadRuns): RunListState {
  const { runs: before, fresh } = state
  const { total, isContinued } = answer
  const known = collectIds(before)
  const answered = new Map(answer.runs.map((run) => [run.runId, run]))
  /** New runs above each known one. */
  const newAbove = new Map<string, readonly RunSummary[]>()
  let added: RunSummary[] = []
  for (const run of answer.runs) {
    if (known.has(run.runId)) {
      newAbove.set(run.runId, added)
      added = []
    } else {
      added.push(run)
    }
  }
  const last = before.findLast(({ runId }) => answered.has(runId))
  if (last === undefined && before[0] !== undefined && !isContinued) {
    newAbove.set(before[0].runId, added)
    added = []
  }
  const runs = before.flatMap((run) => [
    ...(newAbove.get(run.runId) ?? []),
    replaceEqualDeep(run, answered.get(run.runId) ?? run),
    ...(run === last ? added : []),
  ])
  // A response that ends before the last loaded run does not change where the list continues.
  const end = before.at(-1)
  const isShort = !isContinued && end !== undefined && !answered.has(end.runId)
  const nextCursor =
    isShort && answer.nextCursor !== undefined ? state.nextCursor : answer.nextCursor
  const appeared = [...newAbove.values()].flat().map(({ runId }) => runId)
  return {
    ...state,
    runs: last === undefined ? [...runs, ...added] : runs,
    fresh: new Set([...fresh, ...appeared]),
    total,
    isCapped: answer.totalCapped === true,
    isWhole: nextCursor === undefined,
    nextCursor,
  }
}

/**
 * Returns the ids of the runs of `state` that are missing from `answer` and have changed: they left
 * the filter or were deleted, or are in `changed`.
 */
export function findUnansweredRuns(
  { filter, runs }: RunListState,
  answer: ReadRuns,
  changed: ReadonlySet<string>,
): readonly string[] {
  const answered = collectIds(answer.runs)
  const last = runs.findLastIndex(({ runId }) => answered.has(runId))
  return runs.flatMap(({ runId, status }, at) => {
    if (answered.has(runId)) return []
    const hasLeft = matchesGroup(filter, status) && (answer.nextCursor === undefined || at < last)
    return hasLeft || changed.has(runId) ? [runId] : []
  })
}

/** Replaces runs that were loaded one by one; runs that no longer exist are removed. */
export function replaceRuns(
  state: RunListState,
  details: ReadonlyMap<string, RunDetail | undefined>,
): RunListState {
  const runs = state.runs.flatMap((run) => {
    if (!details.has(run.runId)) return [run]
    const detail = details.get(run.runId)
    return detail === undefined ? [] : [toRunSummary(detail)]
  })
  return { ...state, runs }
}

/** Shows all hidden runs. */
export function revealFresh(state: RunListState): RunListState {
  return state.fresh.size === 0 ? state : { ...state, fresh: new Set() }
}

/** Removes the runs that no longer match. */
export function dropPast(state: RunListState): RunListState {
  const runs = selectMatchingRuns(state)
  return runs.length === state.runs.length ? state : { ...state, runs }
}

/** Returns the runs that still match. */
export function selectMatchingRuns({ filter, runs }: RunListState): readonly RunSummary[] {
  return runs.filter(({ status }) => matchesGroup(filter, status))
}

export function selectShownRuns({ runs, fresh }: RunListState): readonly RunSummary[] {
  return fresh.size === 0 ? runs : runs.filter(({ runId }) => !fresh.has(runId))
}

/** Formats the number of matching runs: `3 runs`, or `10,000+ runs` when the server does not count further. */
export function formatTotal(
  { total, isCapped }: Pick<RunListState, 'total' | 'isCapped'>,
  noun: string,
): string {
  return isCapped ? `${total.toLocaleString('en-US')}+ ${noun}s` : formatPlural(total, noun)
}

function collectIds(runs: readonly RunSummary[]): ReadonlySet<string> {
  return new Set(runs.map(({ runId }) => runId))
}

function toRunSummary(detail: RunDetail): RunSummary {
  const { runId, status, startedAt, workflow, tags, ensemble, tasks, metrics } = detail
  const { completedAt, durationMs = null, submittedBy, error } = detail
  const current = tasks.find((task) => task.status === 'RUNNING')
  return {
    runId,
    status,
    startedAt,
    durationMs,
    taskCount: tasks.length,
    completedTasks: tasks.filter((task) => task.status === 'COMPLETED').length,
    skippedTasks: tasks.filter((task) => task.status === 'SKIPPED').length,
    workflow,
    tags,
    ensemble,
    totalTokens: metrics.totalTokens,
    totalToolCalls: metrics.totalToolCalls,
    openReviews: detail.pendingReviews.filter(({ kind }) => kind !== 'EVENT').length,
    ...(metrics.costUsd === undefined ? {} : { costUsd: metrics.costUsd }),
    ...(current && { currentTask: { name: current.name, index: current.index - 1 } }),
    ...(submittedBy === undefined ? {} : { submittedBy }),
    ...(completedAt === undefined ? {} : { completedAt }),
    ...(error === undefined ? {} : { error: error.slice(0, ERROR_LENGTH) }),
  }
}
