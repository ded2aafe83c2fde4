/** Reads a run and its events for the export formats of AgentEnsemble. */
import { findRecord } from '../find-run.ts'
import { dagModel } from './dag-model.ts'
import { executionTrace } from './execution-trace.ts'

import type { ResolvedControlApiOptions } from '../options.ts'
import type { DagModel, ExecutionTrace, LoggedRunEvent } from '@tutti/protocol'
import type { RunRecord } from '@tutti/runs'

/** Events read at a time. */
const PAGE = 1_000

/**
 * Returns the trace of a run as of now.
 *
 * @throws {TuttiError} RUN_NOT_FOUND when the run does not exist.
 */
export async function runTrace(
  { runs, clock }: Pick<ResolvedControlApiOptions, 'runs' | 'clock'>,
  runId: string,
): Promise<ExecutionTrace> {
  const { run, events } = await readRun(runs, runId)
  return executionTrace(run, events, clock.now())
}

/**
 * Returns the task graph of a run as of now.
 *
 * @throws {TuttiError} RUN_NOT_FOUND when the run does not exist.
 */
export async function runDag(
  { runs, clock }: Pick<ResolvedControlApiOptions, 'runs' | 'clock'>,
  runId: string,
): Promise<DagModel> {
  const { run, events } = await readRun(runs, runId)
  const now = clock.now()
  return dagModel(executionTrace(run, events, now), events, now)
}

async function readRun(
  runs: ResolvedControlApiOptions['runs'],
  runId: string,
): Promise<{ readonly run: RunRecord; readonly events: readonly LoggedRunEvent[] }> {
  const run = await findRecord(runs, runId)
  const events: LoggedRunEvent[] = []
  for (let from = 0; from <= run.lastSeq; from += PAGE) {
    const page = await runs.readEvents({ runId, from, limit: PAGE })
    // Later events are left out, so that record and events describe the same moment.
    events.push(...page.filter(({ type, seq }) => type !== 'token' && seq <= run.lastSeq))
  }
  return { run, events }
}
