/** Pure: what the events of a run change in its line. */
import {
  addUsed,
  lessUsed,
  NOTHING_USED,
  sumsOf,
  usedAtEnd,
  usedInAll,
  usedOfSummary,
  usedSoFar,
} from './run-list-usage.ts'

import type { RunCourse, RunLine, TaskCourse } from './run-list-line.ts'
import type { ListEvent } from './server-feed.ts'
import type { LoggedRunEventOf } from '@tutti/client'
import type { RunSummary } from '@tutti/protocol'

/** Characters of an error that a list shows. */
const ERROR_LENGTH = 300

/** An event of a run that was accepted. */
type CourseEvent = Exclude<ListEvent, LoggedRunEventOf<'run_queued'>>

/** How far a line is, where that is known. */
type KnownLine = Required<RunLine>

/** The line after an event that is not in it yet; undefined when what it says cannot be counted. */
export function runAfter(line: KnownLine, event: CourseEvent): RunLine | undefined {
  const { run, course } = line
  switch (event.type) {
    case 'ensemble_started': {
      const { startedAt, workflow, ensemble, tasks } = event
      const planned = tasks.map(({ name }, at) => [at + 1, newTask(name)] as const)
      const status = run.status === 'ACCEPTED' ? 'RUNNING' : run.status
      const all = new Map([...planned, ...course.tasks])
      return {
        run: { ...run, status, startedAt, workflow, ensemble, taskCount: all.size },
        course: { ...course, tasks: all },
      }
    }
    case 'run_resumed':
      return run.status === 'ACCEPTED' ? { run: { ...run, status: 'RUNNING' }, course } : line
    case 'run_cancelling':
      return { run: { ...run, status: 'CANCELLING' }, course }
    case 'ensemble_completed':
      return { run: { ...run, completedAt: event.completedAt }, course }
    case 'run_result':
      return ended(run, event)
    case 'review_requested':
      return withGates(line, new Map(course.gates).set(event.reviewId, event.taskName))
    case 'review_decided':
    case 'review_timed_out':
    case 'review_withdrawn': {
      const gates = new Map(course.gates)
      gates.delete(event.reviewId)
      return withGates(line, gates)
    }
    case 'delegation_started':
      return delegated(line, event)
    case 'task_started':
      return begun(line, event)
    case 'task_skipped':
      return withTask(line, event.taskIndex, { state: 'over' })
    case 'metrics_snapshot':
    case 'task_completed':
    case 'task_attempt_failed':
    case 'task_failed':
      return worked(line, event)
    default:
      event satisfies never
      return line
  }
}

/** A task that has not begun. */
export function newTask(name: string): TaskCourse {
  return { name, state: 'waiting', attempt: 0, used: NOTHING_USED }
}

function delegated(
  { run, course }: KnownLine,
  event: LoggedRunEventOf<'delegation_started'>,
): KnownLine {
  const { workerTaskIndex: index, workerTask, taskName } = event
  if (course.tasks.has(index)) return { run, course }
  const tasks = new Map(course.tasks)
  tasks.set(index, { ...newTask(workerTask), delegatedBy: taskName })
  return { run: { ...run, taskCount: tasks.size }, course: { ...course, tasks } }
}

/** What the attempt before has used is past. */
function begun(line: KnownLine, event: LoggedRunEventOf<'task_started'>): KnownLine {
  const { taskIndex, taskName, attempt } = event
  const task = line.course.tasks.get(taskIndex) ?? newTask(taskName)
  if (attempt < task.attempt) return line
  if (attempt === task.attempt) return withTask(line, taskIndex, { state: 'running' })
  const rest = addUsed([line.course.rest, task.used ?? NOTHING_USED])
  const tasks = new Map(line.course.tasks)
  const { restCalls: _, ...same } = task
  tasks.set(taskIndex, { ...same, attempt, state: 'running', used: NOTHING_USED })
  return { run: line.run, course: { ...line.course, rest, tasks } }
}

/** What a step of an attempt says; of one that had begun when the run was read, it may be too little. */
function worked(
  line: KnownLine,
  event: LoggedRunEventOf<
    'metrics_snapshot' | 'task_completed' | 'task_attempt_failed' | 'task_failed'
  >,
): KnownLine | undefined {
  const task = line.course.tasks.get(event.taskIndex)
  if (task === undefined || task.used === undefined) return undefined
  if (event.attempt !== task.attempt) return event.attempt < task.attempt ? line : undefined
  if (event.type === 'metrics_snapshot') {
    const { toolCalls } = task.used
    return withTask(line, event.taskIndex, { used: { ...usedSoFar(event), toolCalls } })
  }
  const { restCalls = 0 } = task
  if (restCalls === 'unknown') return undefined
  const { toolCalls, ...more } = usedAtEnd(event)
  const used = { ...more, toolCalls: toolCalls - restCalls }
  if (event.type !== 'task_completed') {
    return withTask(line, event.taskIndex, { used, state: event.willRetry ? 'retrying' : 'over' })
  }
  return withTask(line, event.taskIndex, { used, state: 'completed' })
}

function withTask(line: KnownLine, index: number, change: Partial<TaskCourse>): KnownLine {
  const { run, course } = line
  const task = course.tasks.get(index)
  if (task === undefined) return line
  const tasks = new Map(course.tasks).set(index, { ...task, ...change })
  return { run, course: { ...course, tasks } }
}

function withGates({ run, course }: KnownLine, gates: RunCourse['gates']): KnownLine {
  return { run, course: { ...course, gates } }
}

/** The end says all that was used; nothing follows it. */
function ended(run: RunSummary, event: LoggedRunEventOf<'run_result'>): RunLine {
  const { status, durationMs, metrics, error } = event
  const { currentTask: _, costUsd: __, ...rest } = run
  const used = metrics === undefined ? usedOfSummary(run) : usedInAll(metrics)
  return {
    run: {
      ...rest,
      status,
      durationMs,
      openReviews: 0,
      ...sumsOf(used),
      ...(error === undefined ? {} : { error: startOf(error) }),
    },
  }
}

/**
 * The course after an event that is in its sums already: what it says of a present attempt is known from
 * then on, and is no longer in what is past. The sums stay as they are.
 */
export function lineBefore(course: RunCourse, event: ListEvent): RunCourse {
  if (event.type !== 'task_started' && event.type !== 'metrics_snapshot') return course
  const { taskIndex, attempt } = event
  const task = course.tasks.get(taskIndex)
  if (task?.state !== 'running' || task.attempt !== attempt) return course
  if (event.type === 'task_started' && task.used !== undefined) return course
  const toolCalls = task.used?.toolCalls ?? 0
  const used = event.type === 'task_started' ? NOTHING_USED : { ...usedSoFar(event), toolCalls }
  const rest = lessUsed(addUsed([course.rest, task.used ?? NOTHING_USED]), [used])
  return { ...course, rest, tasks: new Map(course.tasks).set(taskIndex, { ...task, used }) }
}

/** The start of an error; not half of a character at its end. */
export function startOf(error: string): string {
  if (error.length <= ERROR_LENGTH) return error
  return error.slice(0, ERROR_LENGTH).replace(/[\ud800-\udbff]$/, '')
}
