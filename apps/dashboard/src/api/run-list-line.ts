/**
 * Pure: one line of the list of runs, kept by the events of its run.
 *
 * L1 A line is what the list of the server says, or will say when it is read again.
 * L2 `metrics_snapshot` and the end of an attempt say all that the attempt has used: they replace what was
 *    counted of it and add nothing. Sums are of what is past (`rest`) and of the present attempts.
 * L3 Of a run that had begun when it was read, it is not known what of its sums its present attempts have
 *    used, nor how far its log was. Such a line is unclear at the first event that needs it: the run itself
 *    is read then, which says where its log was (`lastSeq`), and what comes after is counted from there.
 * L4 An event that is in the line already changes nothing.
 */
import { isTerminalRunStatus, type RunDetail, type RunSummary } from '@tutti/protocol'

import { lineBefore, newTask, runAfter, startOf } from './run-list-events.ts'
import { statusFrom } from './run-list-status.ts'
import { addUsed, NOTHING_USED, sumsOf, usedOfSummary, type Used } from './run-list-usage.ts'

import type { ListEvent } from './server-feed.ts'
import type { LoggedRunEventOf } from '@tutti/client'

/** A line of the list. */
export interface RunLine {
  readonly run: RunSummary
  /** How the run went; absent when it is over, and when it is not known exactly. */
  readonly course?: RunCourse
}

/** What is known of how a run went, beside what is shown of it. */
export interface RunCourse {
  /** Place of the newest event that is in the line. */
  readonly lastSeq: number
  /** By their index. */
  readonly tasks: ReadonlyMap<number, TaskCourse>
  /** What was used otherwise than by the present attempts of `tasks`. */
  readonly rest: Used
  /** Reviews that wait, with the task that they are of. */
  readonly gates: ReadonlyMap<string, string>
}

/** What is known of a task. */
export interface TaskCourse {
  readonly name: string
  readonly state: 'waiting' | 'running' | 'retrying' | 'completed' | 'over'
  readonly attempt: number
  /** What the attempt has used; absent when that is not known, and is in `rest`. */
  readonly used?: Used
  /** Tool calls of the attempt that are in `rest` for good; absent when there are none. */
  readonly restCalls?: number | 'unknown'
  /** The task that delegated it. */
  readonly delegatedBy?: string
}

/** The course of a run of which nothing has happened but that it was accepted. */
const NOT_BEGUN: RunCourse = {
  lastSeq: 0,
  tasks: new Map(),
  rest: NOTHING_USED,
  gates: new Map(),
}

/** A line as the list of the server has it. */
export function lineOfSummary(run: RunSummary): RunLine {
  return run.status === 'ACCEPTED' ? { run, course: NOT_BEGUN } : { run }
}

/** The line of a run that was just accepted. */
export function lineOfQueued(event: LoggedRunEventOf<'run_queued'>): RunLine {
  const { runId, queuedAt, totalTasks, workflow, tags, ensemble, actor } = event
  const run: RunSummary = {
    runId,
    status: 'ACCEPTED',
    startedAt: queuedAt,
    durationMs: null,
    taskCount: totalTasks,
    completedTasks: 0,
    workflow,
    tags,
    ensemble,
    totalTokens: 0,
    totalToolCalls: 0,
    costUsd: 0,
    openReviews: 0,
    ...(actor === undefined ? {} : { submittedBy: actor }),
  }
  return { run, course: NOT_BEGUN }
}

/** Whether the line does not tell how its run stands: only the server knows whether all of it waits. */
export function isUnclear({ run, course }: RunLine): boolean {
  return course === undefined && run.status === 'RUNNING' && run.openReviews > 0
}

/** The line of a run that was read by itself. What its present attempts have used is told by events. */
export function lineOfDetail(detail: RunDetail): RunLine {
  const { lastSeq, tasks, pendingReviews } = detail
  const run = summaryOf(detail)
  if (isTerminalRunStatus(run.status)) return { run }
  const courses = new Map(tasks.map((task) => [task.index, courseOf(task)]))
  const gates = new Map(
    pendingReviews.map(({ reviewId, taskDescription }) => [
      reviewId,
      tasks.find(({ description }) => description === taskDescription)?.name ?? '',
    ]),
  )
  return withCourse(run, { lastSeq, tasks: courses, rest: usedOfSummary(run), gates })
}

/** The line after an event of its run; undefined when that cannot be told without reading the run. */
export function lineAfter(line: RunLine, event: ListEvent): RunLine | undefined {
  const { run, course } = line
  if (isTerminalRunStatus(run.status) || event.type === 'run_queued') return line
  if (course === undefined) return undefined
  if (event.seq <= course.lastSeq) return { run, course: lineBefore(course, event) }
  const next = runAfter({ run, course: { ...course, lastSeq: event.seq } }, event)
  return next?.course === undefined ? next : withCourse(next.run, next.course)
}

/** The line with everything that follows from the course. */
function withCourse(run: RunSummary, course: RunCourse): RunLine {
  const { currentTask: _, costUsd: __, ...rest } = run
  const tasks = [...course.tasks].toSorted(([one], [other]) => one - other)
  const current = tasks.find(([, { state }]) => state === 'running')
  const used = addUsed([course.rest, ...tasks.map(([, task]) => task.used ?? NOTHING_USED)])
  return {
    run: {
      ...rest,
      status: statusFrom(run.status, course),
      completedTasks: tasks.filter(([, { state }]) => state === 'completed').length,
      openReviews: course.gates.size,
      ...(current === undefined
        ? {}
        : { currentTask: { name: current[1].name, index: current[0] - 1 } }),
      ...sumsOf(used),
    },
    course,
  }
}

function summaryOf(detail: RunDetail): RunSummary {
  const { runId, status, startedAt, workflow, tags, ensemble, tasks, metrics } = detail
  const { completedAt, durationMs, submittedBy, error } = detail
  return {
    runId,
    status,
    startedAt,
    durationMs: durationMs ?? null,
    taskCount: tasks.length,
    completedTasks: tasks.filter((task) => task.status === 'COMPLETED').length,
    workflow,
    tags,
    ensemble,
    totalTokens: metrics.totalTokens,
    totalToolCalls: metrics.totalToolCalls,
    ...(metrics.costUsd === undefined ? {} : { costUsd: metrics.costUsd }),
    openReviews: detail.pendingReviews.length,
    ...(submittedBy === undefined ? {} : { submittedBy }),
    ...(completedAt === undefined ? {} : { completedAt }),
    ...(error === undefined ? {} : { error: startOf(error) }),
  }
}

/** The server counts the tool calls of all attempts of a task together. */
function courseOf({
  name,
  status,
  attempt,
  toolCallCount,
}: RunDetail['tasks'][number]): TaskCourse {
  if (attempt === 0) return newTask(name)
  if (status === 'COMPLETED') return { name, state: 'completed', attempt }
  if (status !== 'RUNNING') return { name, state: 'over', attempt }
  const restCalls = attempt > 1 ? 'unknown' : (toolCallCount ?? 'unknown')
  return { name, state: 'running', attempt, restCalls }
}
