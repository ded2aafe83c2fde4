/**
 * Builds `hello`, the first message of every connection, which holds the past events. AgentEnsemble's dashboard
 * rebuilds its whole state from it.
 *
 * AE-V1 Events are grouped by run. Runs are in the order of their creation, unfinished ones last, because the
 *    dashboard shows only the last run, and further events belong to that one.
 * AE-V2 Tokens, model turns and reviews are left out, as on AgentEnsemble's wire. The last turns of the last run are
 *    in a separate field. Of the metrics, only the newest of each task is included.
 * AE-V3 Of a run with too many events, the last ones are limited to those that show its progress.
 * AE-V4 The events have at most about `MAX_BYTES`. Older runs that do not fit are left out.
 */
import {
  isTerminalRunStatus,
  type LoggedRunEvent,
  type RunEvent,
  type ServerMessage,
} from '@tutti/protocol'
import type { RunService } from '@tutti/runs'
import type { RunRecord } from '@tutti/runs/adapter'
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

/** Reads the events of one run, in order: first all of `SHOWN`, then those of `PROGRESS`, each up to half of `room`. */
async function readShownEvents(
  runs: RunService,
  { runId, lastSeq }: ShownRun,
  room: number,
): Promise<Shown> {
  const query = { runId, limit: EVENTS_SHOWN, maxBytes: Math.floor(room / 2) }
  await readTurn()
  // Events written meanwhile are sent after `hello`. The two reads have different types, so they stop at the same `seq`.
  const isKnown = ({ seq }: LoggedRunEvent): boolean => seq <= lastSeq
  const first = (await runs.readEvents({ ...query, from: 0, types: SHOWN })).filter(isKnown)
  const last = first.at(-1)
  if (last === undefined) return NOTHING_SHOWN
  await readTurn()
  const rest = await runs.readEvents({ ...query, from: last.seq + 1, types: PROGRESS })
  const events = withNewestMetrics([...first, ...rest.filter(isKnown)])
  return { events, bytes: sumSizes(events) }
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
