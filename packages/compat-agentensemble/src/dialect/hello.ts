/**
 * Builds `hello`, the first message of every connection, which holds the past events. AgentEnsemble's dashboard
 * rebuilds its whole state from it.
 *
 * AE-V1 Events are grouped by run. Runs are in the order of their creation, unfinished ones last, because the
 *    dashboard shows only the last run, and further events belong to that one.
 * AE-V2 Tokens, model turns and reviews are left out, as on AgentEnsemble's wire. The last turns of the last run are
 *    in a separate field. Of the metrics, only the newest of each task is included.
 * AE-V3 Of a run with too many events, later ones are limited to those that show its progress, and those in the middle are
 *    left out, except the ends of tasks that are shown. So its newest tasks and its end are shown, and no ended task as
 *    running.
 * AE-V4 The events have at most about `MAX_BYTES`. Older runs that do not fit are left out.
 */
import {
  isTerminalRunStatus,
  type LoggedRunEvent,
  type RunEvent,
  type ServerMessage,
} from '@tutti/protocol'
import type { RunService } from '@tutti/runs'
import type { EventQuery, RunRecord } from '@tutti/runs/adapter'
import { eventSize, readTurn } from '@tutti/runs/internal'

import { readRecentIterations } from './recent-iterations.ts'

/** Number of runs in `hello`, the newest ones; the same as in AgentEnsemble. */
const RUNS_SHOWN = 10

/** Maximum number of events of one run, and of the events of `PROGRESS` that follow them. */
const EVENTS_SHOWN = 10_000

/** Maximum size of all events as stored, in bytes. */
const MAX_BYTES = 2_000_000

/** Event types that show the progress of a run. */
const PROGRESS: readonly RunEvent['type'][] = [
  'ensemble_started',
  'task_started',
  'task_completed',
  'task_attempt_failed',
  'task_failed',
  'task_skipped',
  'ensemble_completed',
  'run_result',
]

/** Event types that end a task on the dashboard. */
const TASK_ENDS: readonly RunEvent['type'][] = ['task_completed', 'task_failed']

/** Number of the newest events of a run that are read in any case, in steps, the last ones first. */
const NEWEST_EVENTS = 1_000

/** Number of events of one step. */
const STEP_EVENTS = 250

/** Event types in these steps. The end of a run is read alone: it is the last event that the dashboard needs. */
const NEWEST: readonly RunEvent['type'][] = PROGRESS.filter(
  (type) => type !== 'ensemble_completed' && type !== 'run_result',
)

/** Event types in `hello`. */
const SHOWN: readonly RunEvent['type'][] = [
  ...PROGRESS,
  'task_input',
  'tool_called',
  'delegation_started',
  'delegation_completed',
  'delegation_failed',
  'file_changed',
  'metrics_snapshot',
]

/** A `hello` and the positions up to which it covers the logs. */
export interface HelloSnapshot {
  readonly message: Extract<ServerMessage, { type: 'hello' }>
  /** Last `seq` of each run that the message covers. */
  readonly reaches: ReadonlyMap<string, number>
}

/** Reads the `hello` of a connection to all runs, or to one. */
export async function readHello(
  runs: RunService,
  runId: string | undefined,
): Promise<HelloSnapshot> {
  const reaches = new Map<string, number>()
  const histories: (readonly LoggedRunEvent[])[] = []
  let room = MAX_BYTES
  for (const run of (await findShownRuns(runs, runId)).toReversed()) {
    const { runId: id, lastSeq } = run
    const shown = room > 0 ? await readShownEvents(runs, run, room) : NOTHING_SHOWN
    histories.push(shown.events)
    room -= shown.bytes
    reaches.set(id, lastSeq)
  }
  const trace = histories.toReversed().flat()
  const newest = trace.findLast((event) => event.type === 'ensemble_started')
  if (newest?.type !== 'ensemble_started') {
    return {
      reaches,
      message: { type: 'hello', ...(trace.length === 0 ? {} : { snapshotTrace: trace }) },
    }
  }
  const upTo = reaches.get(newest.runId) ?? newest.seq
  const turns = await readRecentIterations(runs, newest.runId, upTo)
  return {
    reaches,
    message: {
      type: 'hello',
      ensembleId: newest.ensembleId,
      startedAt: newest.startedAt,
      snapshotTrace: trace,
      ...(turns.length === 0 ? {} : { recentIterations: [...turns] }),
    },
  }
}

/** Events and their size in bytes. */
interface Shown {
  readonly events: readonly LoggedRunEvent[]
  readonly bytes: number
}

const NOTHING_SHOWN: Shown = { events: [], bytes: 0 }

/**
 * Reads the events of one run, in order: the first ones of `SHOWN`, up to half of `room`, then those of `PROGRESS`, up to a
 * quarter. If there are more, the newest follow, up to another quarter.
 */
async function readShownEvents(
  runs: RunService,
  { runId, lastSeq }: ShownRun,
  room: number,
): Promise<Shown> {
  // Events written meanwhile are sent after `hello`. The reads have different types, so they stop at the same `seq`.
  const read = async (query: Omit<EventQuery, 'runId'>): Promise<readonly LoggedRunEvent[]> => {
    await readTurn()
    const events = await runs.readEvents({ ...query, runId })
    return events.filter(({ seq }) => seq <= lastSeq)
  }
  const limit = EVENTS_SHOWN
  const first = await read({ from: 0, limit, maxBytes: Math.floor(room / 2), types: SHOWN })
  const last = first.at(-1)
  if (last === undefined) return NOTHING_SHOWN
  const maxBytes = Math.floor(room / 4)
  const rest = await read({ from: last.seq + 1, limit, maxBytes, types: PROGRESS })
  const shown = [...first, ...rest]
  const next = (rest.at(-1) ?? last).seq + 1
  const newest = await readNewest(read, { from: next, lastSeq, maxBytes })
  const ends = await readEnds(read, { shown, newest, from: next })
  const events = withNewestMetrics([...shown, ...ends, ...newest])
  return { events, bytes: sumSizes(events) }
}

/** Reads events of one run up to the position of the `hello`. */
type ReadEvents = (query: Omit<EventQuery, 'runId'>) => Promise<readonly LoggedRunEvent[]>

/** Reads the newest events of `PROGRESS` from a position on, in order. */
async function readNewest(
  read: ReadEvents,
  {
    from,
    lastSeq,
    maxBytes,
  }: { readonly from: number; readonly lastSeq: number; readonly maxBytes: number },
): Promise<readonly LoggedRunEvent[]> {
  const first = Math.max(from, lastSeq + 1 - NEWEST_EVENTS)
  const steps: (readonly LoggedRunEvent[])[] = []
  let room = maxBytes
  for (let end = lastSeq + 1; end > first && room > 0; end -= STEP_EVENTS) {
    const start = Math.max(first, end - STEP_EVENTS)
    const query = { from: start, limit: STEP_EVENTS, maxBytes: MAX_BYTES, types: NEWEST }
    const step = (await read(query)).filter(({ seq }) => seq < end)
    steps.unshift(step)
    room -= sumSizes(step)
  }
  const types = ['ensemble_completed'] as const
  const ends = first > lastSeq ? [] : await read({ from: first, limit: 1, types })
  return [...steps.flat(), ...ends]
}

/** Reads the ends of the shown tasks that are open, from the events between the shown ones and the newest. */
async function readEnds(
  read: ReadEvents,
  {
    shown,
    newest,
    from,
  }: {
    readonly shown: readonly LoggedRunEvent[]
    readonly newest: readonly LoggedRunEvent[]
    readonly from: number
  },
): Promise<readonly LoggedRunEvent[]> {
  const open = new Set<number>()
  for (const event of [...shown, ...newest]) {
    if (event.type === 'task_started') open.add(event.taskIndex)
    if (isTaskEnd(event)) open.delete(event.taskIndex)
  }
  const until = newest[0]?.seq ?? from
  if (open.size === 0 || until <= from) return []
  // Tasks that run at the same time end soon after each other.
  const page = await read({ from, limit: NEWEST_EVENTS, maxBytes: MAX_BYTES, types: TASK_ENDS })
  return page.filter((event) => isTaskEnd(event) && event.seq < until && open.has(event.taskIndex))
}

function isTaskEnd(
  event: LoggedRunEvent,
): event is Extract<LoggedRunEvent, { type: 'task_completed' | 'task_failed' }> {
  return TASK_ENDS.includes(event.type)
}

function sumSizes(events: readonly LoggedRunEvent[]): number {
  return events.reduce((sum, event) => sum + eventSize(event), 0)
}

/** Drops all metrics but the newest of each task: metrics are running totals. */
function withNewestMetrics(events: readonly LoggedRunEvent[]): readonly LoggedRunEvent[] {
  const newest = new Map<number, string>()
  for (const event of events) {
    if (event.type === 'metrics_snapshot') newest.set(event.taskIndex, event.id)
  }
  return events.filter(
    (event) => event.type !== 'metrics_snapshot' || newest.get(event.taskIndex) === event.id,
  )
}

type ShownRun = Pick<RunRecord, 'runId' | 'status' | 'lastSeq'>

async function findShownRuns(
  runs: RunService,
  runId: string | undefined,
): Promise<readonly ShownRun[]> {
  if (runId !== undefined) {
    const found = await runs.record(runId)
    return found === undefined ? [] : [found]
  }
  const { runs: newest } = await runs.list({ limit: RUNS_SHOWN, offset: 0 })
  const inOrder = newest.toReversed()
  return [
    ...inOrder.filter(({ status }) => isTerminalRunStatus(status)),
    ...inOrder.filter(({ status }) => !isTerminalRunStatus(status)),
  ]
}
