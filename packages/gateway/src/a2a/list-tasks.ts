/**
 * Lists the tasks of an agent.
 *
 * GW-L1 Tasks are sorted by the time of their last status change, newest first, then by descending id.
 * GW-L2 A page token is the position of the last task of its page. Later pages repeat no task. A task whose
 *    status changes meanwhile moves to the front, before the token.
 * GW-L3 A task belongs to the context in the tag of its run, else to a separate one with the id of the task.
 */
import { eventSize, readTurn } from '@tutti/runs/internal'

import { decodeChangeCursor, encodeChangeCursor } from '../service/change-cursor.ts'
import { invalidParams } from './errors.ts'
import { readTask } from './load-task.ts'
import { CONTEXT_TAG, toWireTask, type Showing } from './to-task.ts'

import type { A2aCall } from './agent.ts'
import type { WireTask, A2aTaskState, ListTasksParams, TaskPage } from './wire.ts'
import type { ChangedRun, ChangedRunsQuery } from '@tutti/runs/adapter'

/** Default page size. Source: A2A. */
const DEFAULT_PAGE_SIZE = 50

/** Size at which a page ends, in bytes. */
const MAX_PAGE_BYTES = 1_000_000

/**
 * Returns a page of tasks, last changed first.
 *
 * @throws {A2aError} INVALID_PARAMS for an invalid page token.
 */
export async function listTasks(
  params: ListTasksParams,
  showing: Showing,
  call: Pick<A2aCall, 'service' | 'agent'>,
): Promise<TaskPage> {
  const { contextId, status, pageSize = DEFAULT_PAGE_SIZE, statusTimestampAfter } = params
  const after = params.pageToken === undefined ? undefined : decodePageToken(params.pageToken)
  const { runs, total } = await call.service.options.runs.listByChange({
    ensembles: call.agent.ensembles.map(({ name }) => name),
    ...(contextId === undefined ? {} : { group: { tag: CONTEXT_TAG, value: contextId } }),
    ...(status === undefined ? {} : RUNS_IN_STATE[status]),
    ...(statusTimestampAfter === undefined ? {} : { since: Date.parse(statusTimestampAfter) }),
    after,
    // One run more than the page shows whether another page follows.
    limit: pageSize + 1,
  })
  const { tasks, last, read } = await readPage(runs.slice(0, pageSize), showing, call)
  return {
    tasks,
    nextPageToken: last === undefined || runs.length <= read ? '' : encodeChangeCursor(last),
    pageSize: tasks.length,
    totalSize: total,
  }
}

/** Reads the tasks of a page one after another; a page that gets too large ends early. */
async function readPage(
  page: readonly ChangedRun[],
  showing: Showing,
  call: Pick<A2aCall, 'service' | 'agent'>,
): Promise<{
  readonly tasks: WireTask[]
  readonly last: ChangedRun | undefined
  readonly read: number
}> {
  const tasks: WireTask[] = []
  let bytes = 0
  let read = 0
  for (const { runId, changedAt } of page) {
    read += 1
    await readTurn()
    const run = await call.service.options.runs.record(runId)
    if (run === undefined) continue
    const { identity, view } = await readTask(call, run, showing)
    const { status: shown, ...task } = toWireTask(identity, view, showing)
    // The time by which the list is sorted, even if the log is slightly ahead.
    tasks.push({ ...task, status: { ...shown, timestamp: new Date(changedAt).toISOString() } })
    bytes += eventSize(task)
    if (bytes > MAX_PAGE_BYTES) break
  }
  return { tasks, last: page[read - 1], read }
}

/** Task state → query for the runs of its tasks. */
const RUNS_IN_STATE: Readonly<
  Record<A2aTaskState, Pick<ChangedRunsQuery, 'statuses' | 'awaitsReview'>>
> = {
  TASK_STATE_SUBMITTED: { statuses: ['ACCEPTED'] },
  TASK_STATE_WORKING: {
    statuses: ['RUNNING', 'WAITING', 'WAITING_FOR_BUILD', 'CANCELLING'],
    awaitsReview: false,
  },
  TASK_STATE_INPUT_REQUIRED: { awaitsReview: true },
  TASK_STATE_COMPLETED: { statuses: ['COMPLETED'] },
  TASK_STATE_FAILED: { statuses: ['FAILED'] },
  TASK_STATE_CANCELED: { statuses: ['CANCELLED'] },
  TASK_STATE_REJECTED: { statuses: ['REJECTED'] },
  TASK_STATE_AUTH_REQUIRED: { statuses: [] },
}

function decodePageToken(token: string): ChangedRun {
  const position = decodeChangeCursor(token)
  if (position !== undefined) return position
  const message = `must be the nextPageToken of an earlier page, got "${token}"`
  throw invalidParams([{ path: '/pageToken', message }])
}
