/**
 * The first message of every connection: what happened before it. AgentEnsemble's dashboard rebuilds
 * its whole state from it.
 */
import type { LoggedRunEvent, RunEvent, ServerMessage } from '@tutti/protocol'
import type { RunService } from '@tutti/runs'

/** Runs that `hello` shows, the newest ones; AgentEnsemble's number. */
const RUNS_SHOWN = 10

/** Events of one run that `hello` shows, at most. */
const EVENTS_SHOWN = 10_000

/** Event types that `hello` shows: what a late reader needs. The others are live only, as on AgentEnsemble. */
const SHOWN: readonly RunEvent['type'][] = [
  'ensemble_started',
  'task_started',
  'task_input',
  'task_completed',
  'task_failed',
  'task_skipped',
  'tool_called',
  'delegation_started',
  'delegation_completed',
  'delegation_failed',
  'file_changed',
  'ensemble_completed',
  'run_result',
]

/** A `hello` and how far it reaches. */
export interface Hello {
  readonly message: Extract<ServerMessage, { type: 'hello' }>
  /** For each run shown the `seq` up to which its events are in the message or left out of it. */
  readonly reaches: ReadonlyMap<string, number>
}

/** The `hello` of a connection to every run, or to one. */
export async function helloOf(runs: RunService, runId: string | undefined): Promise<Hello> {
  const shown = await runsToShow(runs, runId)
  const reaches = new Map<string, number>()
  const trace: LoggedRunEvent[] = []
  for (const { runId: id, lastSeq } of shown) {
    const events = await runs.readEvents({ runId: id, from: 0, limit: EVENTS_SHOWN, types: SHOWN })
    trace.push(...events)
    reaches.set(id, Math.max(lastSeq, events.at(-1)?.seq ?? lastSeq))
  }
  const newest = trace.findLast((event) => event.type === 'ensemble_started')
  return {
    reaches,
    message: {
      type: 'hello',
      ...(newest?.type === 'ensemble_started'
        ? { ensembleId: newest.ensembleId, startedAt: newest.startedAt }
        : {}),
      ...(trace.length === 0 ? {} : { snapshotTrace: trace }),
    },
  }
}

async function runsToShow(
  runs: RunService,
  runId: string | undefined,
): Promise<readonly { readonly runId: string; readonly lastSeq: number }[]> {
  if (runId === undefined) {
    const { runs: newest } = await runs.list({ limit: RUNS_SHOWN, offset: 0 })
    return newest.toReversed()
  }
  const found = await runs.get(runId)
  return found === undefined ? [] : [found.run]
}
