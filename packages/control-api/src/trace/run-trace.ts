/** Reads what the trace of a run is made of. */
import { findRecord } from '../find-run.ts'
import { executionTrace } from './execution-trace.ts'

import type { ResolvedControlApiOptions } from '../options.ts'
import type { ExecutionTrace, LoggedRunEvent } from '@tutti/protocol'

/** Events read at a time. */
const PAGE = 1_000

/**
 * The trace of a run as it is now.
 *
 * @throws {TuttiError} RUN_NOT_FOUND when there is none.
 */
export async function runTrace(
  { runs, clock }: Pick<ResolvedControlApiOptions, 'runs' | 'clock'>,
  runId: string,
): Promise<ExecutionTrace> {
  const run = await findRecord(runs, runId)
  const events: LoggedRunEvent[] = []
  for (let from = 0; from <= run.lastSeq; from += PAGE) {
    const page = await runs.readEvents({ runId, from, limit: PAGE })
    // Record and events are of one moment: what has happened since is left out.
    events.push(...page.filter(({ type, seq }) => type !== 'token' && seq <= run.lastSeq))
  }
  return executionTrace(run, events, clock.now())
}
