/**
 * The runs that match a filter, as far as their pages were read. Pure: merges answers of the server into
 * what the reader sees.
 *
 * R1 Runs are in the order of the server, newest first; a run that is shown never moves.
 * R2 A run that no longer matches stays where it is until `withoutPast`.
 * R3 A run that appears above others is `fresh`: it is hidden until `revealed`, so that nothing moves.
 */
import { replaceEqualDeep } from '@tanstack/react-query'

import { fitsGroup, type RunFilter } from './run-filter.ts'

import type { RunDetail, RunList, RunSummary } from '@tutti/protocol'

/** Characters of an error in a list, as in `RunSummary`. */
const ERROR_LENGTH = 300

/** A list as far as it was read. */
export interface RunListState {
  readonly filter: RunFilter
  readonly runs: readonly RunSummary[]
  /** Ids of the runs that are not shown yet. */
  readonly fresh: ReadonlySet<string>
  /** Number of matching runs on all pages. */
  readonly total: number
  /** Whether the last page was read. */
  readonly isWhole: boolean
}

/** Consecutive runs of the server's list. */
export interface ReadRuns extends RunList {
  /** Whether the list ends with them. */
  readonly isWhole: boolean
}

/** The state of a list that has not been read. */
export function emptyRunList(filter: RunFilter): RunListState {
  return { filter, runs: [], fresh: new Set(), total: 0, isWhole: false }
}

/** Merges runs that the server listed: its first page, or some that begin with a known one. */
export function withRuns(state: RunListState, answer: ReadRuns): RunListState {
  const { runs: before, fresh } = state
  const { total, isWhole } = answer
  const known = idsOf(before)
  const answered = new Map(answer.runs.map((run) => [run.runId, run]))
  /** The new runs above each known one. */
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
  if (last === undefined && before[0] !== undefined) {
    newAbove.set(before[0].runId, added)
    added = []
  }
  const runs = before.flatMap((run) => [
    ...(newAbove.get(run.runId) ?? []),
    replaceEqualDeep(run, answered.get(run.runId) ?? run),
    ...(run === last ? added : []),
  ])
  const appeared = [...newAbove.values()].flat().map(({ runId }) => runId)
  return {
    ...state,
    runs: last === undefined ? [...runs, ...added] : runs,
    fresh: new Set([...fresh, ...appeared]),
    total,
    isWhole,
  }
}

/**
 * Returns the ids of the runs of `state` that `answer` does not tell of and that have changed: they left the
 * filter or were deleted, or are in `changed`.
 */
export function unansweredRuns(
  { filter, runs }: RunListState,
  answer: ReadRuns,
  changed: ReadonlySet<string>,
): readonly string[] {
  const answered = idsOf(answer.runs)
  const last = runs.findLastIndex(({ runId }) => answered.has(runId))
  return runs.flatMap(({ runId, status }, at) => {
    if (answered.has(runId)) return []
    const hasLeft = fitsGroup(filter, status) && (answer.isWhole || at < last)
    return hasLeft || changed.has(runId) ? [runId] : []
  })
}

/** Replaces runs that were read one by one; those that the server no longer has are removed. */
export function withDetails(
  state: RunListState,
  details: ReadonlyMap<string, RunDetail | undefined>,
): RunListState {
  const runs = state.runs.flatMap((run) => {
    if (!details.has(run.runId)) return [run]
    const detail = details.get(run.runId)
    return detail === undefined ? [] : [summaryOf(detail)]
  })
  return { ...state, runs }
}

/** Shows everything. */
export function revealed(state: RunListState): RunListState {
  return state.fresh.size === 0 ? state : { ...state, fresh: new Set() }
}

/** Removes the runs that no longer match. */
export function withoutPast(state: RunListState): RunListState {
  const runs = matchingRuns(state)
  return runs.length === state.runs.length ? state : { ...state, runs }
}

/** The runs that still match. */
export function matchingRuns({ filter, runs }: RunListState): readonly RunSummary[] {
  return runs.filter(({ status }) => fitsGroup(filter, status))
}

export function shownRuns({ runs, fresh }: RunListState): readonly RunSummary[] {
  return fresh.size === 0 ? runs : runs.filter(({ runId }) => !fresh.has(runId))
}

function idsOf(runs: readonly RunSummary[]): ReadonlySet<string> {
  return new Set(runs.map(({ runId }) => runId))
}

function summaryOf(detail: RunDetail): RunSummary {
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
    workflow,
    tags,
    ensemble,
    totalTokens: metrics.totalTokens,
    totalToolCalls: metrics.totalToolCalls,
    openReviews: detail.pendingReviews.length,
    ...(metrics.costUsd === undefined ? {} : { costUsd: metrics.costUsd }),
    ...(current && { currentTask: { name: current.name, index: current.index - 1 } }),
    ...(submittedBy === undefined ? {} : { submittedBy }),
    ...(completedAt === undefined ? {} : { completedAt }),
    ...(error === undefined ? {} : { error: error.slice(0, ERROR_LENGTH) }),
  }
}
