/**
 * Lists the tasks of an agent.
 *
 * L1 The one whose status changed last comes first; of two at the same time the one with the greater id.
 * L2 A page token is the place of the last task of its page, so that a page has no task that the one before had,
 *    whatever has changed meanwhile, but for tasks whose status changed.
 * L3 A task belongs to the context that its run was tagged with, else to one of its own, named by its id.
 */
import { decode } from '@tutti/protocol'
import { Type } from '@tutti/core'
import { readTurn } from '@tutti/runs'

import { eventSize } from '@tutti/runs'
import { isTaskOf } from './agent.ts'
import { invalidParams } from './a2a-error.ts'
import { taskOf } from './load-task.ts'
import { CONTEXT_TAG, toTask, type Showing } from './to-task.ts'

import type { Asker } from './asker.ts'
import type { ListTasksParams, Task, TaskPage, TaskState } from './a2a-wire.ts'
import type { ReviewRecord, RunRecord } from '@tutti/runs'
import type { RunStatus } from '@tutti/protocol'

/** Tasks on a page when nothing else is said. A2A's number. */
const DEFAULT_PAGE_SIZE = 50

/** Size after which a page ends, in bytes. */
const MAX_PAGE_BYTES = 1_000_000

/** Runs read at a time. */
const BATCH = 1_000

/** Fields of a run that the list reads. */
type TaskRun = Omit<RunRecord, 'inputs' | 'request' | 'webhooks'>

interface Entry {
  readonly run: TaskRun
  readonly state: TaskState
  /** When its status changed, in milliseconds since 1970. */
  readonly at: number
}

/**
 * A page of tasks, the last changed first.
 *
 * @throws {A2aError} INVALID_PARAMS for a page token that is none.
 */
export async function listTasks(
  params: ListTasksParams,
  showing: Showing,
  asker: Pick<Asker, 'options' | 'agent'>,
): Promise<TaskPage> {
  const { status, pageSize: limit = DEFAULT_PAGE_SIZE, statusTimestampAfter } = params
  const after = params.pageToken === undefined ? undefined : placeOf(params.pageToken)
  const since = statusTimestampAfter === undefined ? -Infinity : Date.parse(statusTimestampAfter)
  const [runs, reviews] = await Promise.all([
    runsIn(params.contextId, asker),
    asker.options.runs.openReviews(),
  ])
  const all = runs
    .map((run) => entryOf(run, reviews))
    .filter(({ state, at }) => (status === undefined || state === status) && at >= since)
    .toSorted(lastChangedFirst)
  const rest = after === undefined ? all : all.filter((entry) => isAfter(entry, after))
  const { tasks, last, read } = await tasksOf(rest.slice(0, limit), showing, asker)
  return {
    tasks,
    nextPageToken: last === undefined || rest.length <= read ? '' : tokenOf(last),
    pageSize: tasks.length,
    totalSize: all.length,
  }
}

/** Reads the tasks of a page one after another; a page that gets too large ends early. */
async function tasksOf(
  page: readonly Entry[],
  showing: Showing,
  asker: Pick<Asker, 'options' | 'agent'>,
): Promise<{ readonly tasks: Task[]; readonly last: Entry | undefined; readonly read: number }> {
  const tasks: Task[] = []
  let bytes = 0
  let read = 0
  for (const entry of page) {
    read += 1
    await readTurn()
    const run = await asker.options.runs.record(entry.run.runId)
    if (run === undefined) continue
    const { facts, view } = await taskOf(asker, run, showing)
    const { status: shown, ...task } = toTask(facts, view, showing)
    // What the list is in the order of, also where the log is a moment ahead.
    tasks.push({ ...task, status: { ...shown, timestamp: new Date(entry.at).toISOString() } })
    bytes += eventSize(task)
    if (bytes > MAX_PAGE_BYTES) break
  }
  return { tasks, last: page[read - 1], read }
}

/** The runs that are tasks of the agent, of one context or of all. */
async function runsIn(
  contextId: string | undefined,
  { options: { runs }, agent }: Pick<Asker, 'options' | 'agent'>,
): Promise<readonly TaskRun[]> {
  const found: TaskRun[] = []
  const tag = contextId === undefined ? {} : { tag: { key: CONTEXT_TAG, value: contextId } }
  for (let offset = 0; ; offset += BATCH) {
    await readTurn()
    const page = await runs.list({ ...tag, limit: BATCH, offset })
    found.push(...page.runs)
    if (page.runs.length < BATCH) break
  }
  const alone = contextId === undefined ? undefined : await runs.record(contextId)
  if (alone !== undefined && alone.tags[CONTEXT_TAG] === undefined) found.push(alone)
  // A run that came in meanwhile moves the others, so that one is read twice.
  const unique = new Map(found.map((run) => [run.runId, run]))
  return [...unique.values()].filter((run) => isTaskOf(agent, run))
}

const STATES: Readonly<Record<RunStatus, TaskState>> = {
  ACCEPTED: 'TASK_STATE_SUBMITTED',
  RUNNING: 'TASK_STATE_WORKING',
  CANCELLING: 'TASK_STATE_WORKING',
  WAITING_REVIEW: 'TASK_STATE_INPUT_REQUIRED',
  COMPLETED: 'TASK_STATE_COMPLETED',
  FAILED: 'TASK_STATE_FAILED',
  CANCELLED: 'TASK_STATE_CANCELED',
  REJECTED: 'TASK_STATE_REJECTED',
}

function entryOf(run: TaskRun, reviews: readonly ReviewRecord[]): Entry {
  const { runId, status, createdAt, startedAt = createdAt, completedAt = startedAt } = run
  const open = reviews.find((review) => review.runId === runId)
  if (open === undefined || status !== 'RUNNING') {
    return { run, state: STATES[status], at: Math.max(completedAt, open?.openedAt ?? 0) }
  }
  return { run, state: 'TASK_STATE_INPUT_REQUIRED', at: open.openedAt }
}

type Place = readonly [at: number, runId: string]

function placeIn({ at, run }: Entry): Place {
  return [at, run.runId]
}

function lastChangedFirst(one: Entry, other: Entry): number {
  if (one.at !== other.at) return other.at - one.at
  return one.run.runId < other.run.runId ? 1 : -1
}

function isAfter(entry: Entry, [at, runId]: Place): boolean {
  return entry.at < at || (entry.at === at && entry.run.runId < runId)
}

function tokenOf(entry: Entry): string {
  return Buffer.from(JSON.stringify(placeIn(entry))).toString('base64url')
}

const PlaceText = Type.Tuple([Type.Number(), Type.String()])

function placeOf(token: string): Place {
  const text = Buffer.from(token, 'base64url').toString()
  const decoded = decode(PlaceText, parsed(text))
  if (decoded.ok) return decoded.value
  const message = `must be the nextPageToken of an earlier page, got "${token}"`
  throw invalidParams([{ path: '/pageToken', message }])
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
