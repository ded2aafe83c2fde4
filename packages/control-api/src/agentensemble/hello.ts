/**
 * The first message of every connection: what happened before it. AgentEnsemble's dashboard rebuilds
 * its whole state from it.
 *
 * API-V1 Its events stand run by run, and the runs in the order in which they were made, those under way
 *    last: the dashboard shows one run at a time, the last one, and the events to come are of that one.
 * API-V2 What is live only on AgentEnsemble's wire (tokens, model turns, reviews) is not among them. The last
 *    turns of the run shown last are beside them, and of the metrics the newest of each task.
 * API-V3 Of a run that is too long for it, what its tools did is left out at the end, but not how it went on.
 * API-V4 It has at most about `MAX_BYTES`, the newest runs first: older runs that do not fit are left out.
 */
import {
  isTerminalRunStatus,
  type LoggedRunEvent,
  type RunEvent,
  type ServerMessage,
} from '@tutti/protocol'
import { eventSize, readTurn, type RunRecord, type RunService } from '@tutti/runs'

import { readRecentIterations } from './recent-iterations.ts'

/** Runs that `hello` shows, the newest ones; AgentEnsemble's number. */
const RUNS_SHOWN = 10

/** Events of one run that `hello` shows, at most, and as many more of those that tell how it went on. */
const EVENTS_SHOWN = 10_000

/** Size of the events that `hello` shows, as the store has them, in bytes. */
const MAX_BYTES = 2_000_000

/** What tells how a run went. */
const COURSE: readonly RunEvent['type'][] = [
  'ensemble_started',
  'task_started',
  'task_completed',
  'task_attempt_failed',
  'task_failed',
  'task_skipped',
  'ensemble_completed',
  'run_result',
]

/** Event types that `hello` shows: what a late reader needs. */
const SHOWN: readonly RunEvent['type'][] = [
  ...COURSE,
  'task_input',
  'tool_called',
  'delegation_started',
  'delegation_completed',
  'delegation_failed',
  'file_changed',
  'metrics_snapshot',
]

/** A `hello` and how far it reaches. */
export interface HelloSnapshot {
  readonly message: Extract<ServerMessage, { type: 'hello' }>
  /** For each run shown the `seq` up to which its events are in the message or left out of it. */
  readonly reaches: ReadonlyMap<string, number>
}

/** Reads the `hello` of a connection to every run, or to one. */
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

/** Events and their size. */
interface Shown {
  readonly events: readonly LoggedRunEvent[]
  readonly bytes: number
}

const NOTHING_SHOWN: Shown = { events: [], bytes: 0 }

/** Reads what is shown of one run, in order; how it went on may take as much again as what came before. */
async function readShownEvents(
  runs: RunService,
  { runId, lastSeq }: ShownRun,
  room: number,
): Promise<Shown> {
  const query = { runId, limit: EVENTS_SHOWN, maxBytes: room / 2 }
  await readTurn()
  // Events that are written while this is read follow `hello`: of those in between, one read would miss some types.
  const isKnown = ({ seq }: LoggedRunEvent): boolean => seq <= lastSeq
  const first = (await runs.readEvents({ ...query, from: 0, types: SHOWN })).filter(isKnown)
  const last = first.at(-1)
  if (last === undefined) return NOTHING_SHOWN
  await readTurn()
  const rest = await runs.readEvents({ ...query, from: last.seq + 1, types: COURSE })
  const events = withNewestMetrics([...first, ...rest.filter(isKnown)])
  return { events, bytes: sumSizes(events) }
}

function sumSizes(events: readonly LoggedRunEvent[]): number {
  return events.reduce((sum, event) => sum + eventSize(event), 0)
}

/** Metrics are running totals: the newest of a task holds those before it. */
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
